// A user's command with its arguments put in. Nothing in the file is run: whoever wrote it is not the one who typed the command.
import type { UserCommand } from './user-commands.ts';

/** The prompt a command makes, and what the person should know about it. */
export type CommandExpansion = { readonly text: string; readonly notices: readonly string[] };

/** Puts the arguments in: `$ARGUMENTS` all of them as typed, `$1` to `$9` single ones, `$$` a dollar sign. Where there is no place for them they follow the text. */
export function expandCommand(command: UserCommand, args: string): CommandExpansion {
  const typed = args.trim();
  const words = splitArguments(typed);
  let placed = false;
  // In one pass, so that a dollar sign in an argument stays what it is.
  const text = command.body.replaceAll(/\$(\$|ARGUMENTS\b|[1-9](?!\d))/g, (_, what: string) => {
    if (what === '$') return '$';
    placed = true;
    return what === 'ARGUMENTS' ? typed : (words[Number(what) - 1] ?? '');
  });
  return { text: placed || typed === '' ? text : `${text}\n\n${typed}`, notices: shellNotices(command) };
}

function shellNotices({ name, body }: UserCommand): readonly string[] {
  const shell = [...body.matchAll(/!`([^`\n]+)`/g)].map((found) => found[1] as string);
  return shell.length
    ? [
        `/${name} asks for commands to be run (${shell.slice(0, 3).join('; ')}${shell.length > 3 ? '; …' : ''}). They were not run: the model sees them as text.`,
      ]
    : [];
}

/** The arguments apart; quotes hold words together. */
function splitArguments(typed: string): readonly string[] {
  return [...typed.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"']|["'])+/g)].map(([word]) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replaceAll(/\\(["\\])/g, '$1'),
    ),
  );
}
