// Expands a user command with its arguments. Shell commands in the file never run: the author of the file is not the user.
import type { UserCommand } from './user-commands.ts';

/** The prompt of a command, and notices for the user. */
export type CommandExpansion = { readonly text: string; readonly notices: readonly string[] };

/** Replaces `$ARGUMENTS` by all arguments as typed, `$1` to `$9` by single ones, `$$` by a dollar sign. Without a placeholder the arguments follow the text. */
export function expandCommand(command: UserCommand, args: string): CommandExpansion {
  const typed = args.trim();
  const parts = splitArguments(typed);
  let replaced = false;
  // One pass, so that a dollar sign in an argument is not expanded.
  const text = command.body.replaceAll(/\$(\$|ARGUMENTS\b|[1-9](?!\d))/g, (_, name: string) => {
    if (name === '$') return '$';
    replaced = true;
    return name === 'ARGUMENTS' ? typed : (parts[Number(name) - 1] ?? '');
  });
  return { text: replaced || typed === '' ? text : `${text}\n\n${typed}`, notices: shellNotices(command) };
}

function shellNotices({ name, body }: UserCommand): readonly string[] {
  const shellCommands = [...body.matchAll(/!`([^`\n]+)`/g)].map((match) => match[1] as string);
  return shellCommands.length
    ? [
        `/${name} asks for commands to be run (${shellCommands.slice(0, 3).join('; ')}${shellCommands.length > 3 ? '; …' : ''}). They were not run: the model sees them as text.`,
      ]
    : [];
}

/** Splits arguments at spaces outside of quotes. */
function splitArguments(typed: string): readonly string[] {
  return [...typed.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"']|["'])+/g)].map(([word]) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replaceAll(/\\(["\\])/g, '$1'),
    ),
  );
}
