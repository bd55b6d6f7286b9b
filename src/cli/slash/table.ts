// The slash commands: ours by name, and the person's own from their files.
import { expandCommand, type UserCommand } from '../../agent/index.ts';
import { closestMatches } from '../../core/index.ts';
import type { SlashCommand } from './desk.ts';
import { doctor } from './doctor-command.ts';
import { historyCommands } from './history-commands.ts';
import { mcp } from './mcp-command.ts';
import { modelCommands } from './model-commands.ts';
import { outlookCommands } from './outlook-commands.ts';
import { permissionCommands } from './permission-commands.ts';
import { promptCommands } from './prompt-commands.ts';
import { sessionCommands } from './session-commands.ts';

const help: SlashCommand = {
  name: 'help',
  about: 'this list',
  anytime: true,
  run(_, { talk, page }) {
    const rows = allCommands(talk.outfit.commands).map(
      ({ name, takes = '', about }) => `/${`${name} ${takes}`.padEnd(26)} ${about}`,
    );
    page([...rows, '', ...keys].join('\n'), 'Commands');
  },
};

const keys = [
  '!command runs a shell command and shows it to the model, !!command keeps it from the model; @ completes files.',
  'Enter sends, or steers a run; Alt+Enter waits for its answer; Shift+Enter begins a line.',
  'Esc interrupts; Esc Esc goes back to an earlier message; Shift+Tab switches asking; Ctrl+O unfolds; Ctrl+D leaves.',
];

const ours: readonly SlashCommand[] = [
  help,
  ...outlookCommands,
  ...modelCommands,
  ...sessionCommands,
  ...historyCommands,
  ...promptCommands,
  ...permissionCommands,
  mcp,
  doctor,
];

/** Every command there is: ours first, then the person's own under names that are still free. */
export function allCommands(own: readonly UserCommand[]): readonly SlashCommand[] {
  const taken = new Set(ours.map(({ name }) => name));
  return [...ours, ...own.filter(({ name }) => !taken.has(name)).map(fromFile)];
}

/** The command a line names and what follows its name; nothing if there is none of that name. */
export function commandIn(
  line: string,
  own: readonly UserCommand[],
): { readonly command: SlashCommand; readonly args: string } | undefined {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = allCommands(own).find((each) => each.name === name);
  return command && { command, args };
}

/** What to say about a line whose command nobody knows. */
export function unknownCommand(line: string, own: readonly UserCommand[]): string {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const near = closestMatches(
    name,
    allCommands(own).map((each) => each.name),
  );
  return `There is no command /${name}${near.length ? `; did you mean /${near.join(' or /')}?` : ': /help lists them.'}`;
}

function fromFile(command: UserCommand): SlashCommand {
  return {
    name: command.name,
    about: command.description,
    ...(command.argumentHint === undefined ? {} : { takes: command.argumentHint }),
    async run(args, { say, converse }) {
      const { text, notices } = expandCommand(command, args);
      for (const notice of notices) say(notice, 'warning');
      await converse(text);
    },
  };
}
