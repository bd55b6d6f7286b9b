// The slash commands: ours by name, and the person's own from their files.
import { expandCommand, type UserCommand } from '../../agent/index.ts';
import { closestMatches } from '../../core/index.ts';
import type { SlashCommand } from './context.ts';
import { doctorCommand } from './doctor-command.ts';
import { historyCommands } from './history-commands.ts';
import { mcpCommand } from './mcp-command.ts';
import { modelCommands } from './model-commands.ts';
import { infoCommands } from './info-commands.ts';
import { permissionCommands } from './permission-commands.ts';
import { promptCommands } from './prompt-commands.ts';
import { sessionCommands } from './session-commands.ts';

const helpCommand: SlashCommand = {
  name: 'help',
  description: 'this list',
  allowedDuringRun: true,
  run(_, { conversation, showPage }) {
    const rows = listSlashCommands(conversation.agent.commands).map(
      ({ name, argumentHint = '', description }) => `/${`${name} ${argumentHint}`.padEnd(26)} ${description}`,
    );
    showPage([...rows, '', ...keyHelp].join('\n'), 'Commands');
  },
};

const keyHelp = [
  '!command runs a shell command and shows it to the model, !!command keeps it from the model; @ completes files.',
  'Enter sends, or steers a run; Alt+Enter waits for its answer; Shift+Enter begins a line.',
  'Esc interrupts; Esc Esc goes back to an earlier message; Shift+Tab switches asking; Ctrl+O unfolds; Ctrl+D leaves.',
];

const builtinCommands: readonly SlashCommand[] = [
  helpCommand,
  ...infoCommands,
  ...modelCommands,
  ...sessionCommands,
  ...historyCommands,
  ...promptCommands,
  ...permissionCommands,
  mcpCommand,
  doctorCommand,
];

/** Every command there is: ours first, then the person's own under names that are still free. */
export function listSlashCommands(own: readonly UserCommand[]): readonly SlashCommand[] {
  const taken = new Set(builtinCommands.map(({ name }) => name));
  return [...builtinCommands, ...own.filter(({ name }) => !taken.has(name)).map(toSlashCommand)];
}

/** The command a line names and what follows its name; nothing if there is none of that name. */
export function parseSlashCommand(
  line: string,
  own: readonly UserCommand[],
): { readonly command: SlashCommand; readonly args: string } | undefined {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = listSlashCommands(own).find((each) => each.name === name);
  return command && { command, args };
}

/** What to say about a line whose command nobody knows. */
export function formatUnknownCommand(line: string, own: readonly UserCommand[]): string {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const near = closestMatches(
    name,
    listSlashCommands(own).map((each) => each.name),
  );
  return `There is no command /${name}${near.length ? `; did you mean /${near.join(' or /')}?` : ': /help lists them.'}`;
}

function toSlashCommand(command: UserCommand): SlashCommand {
  return {
    name: command.name,
    description: command.description,
    ...(command.argumentHint === undefined ? {} : { argumentHint: command.argumentHint }),
    async run(args, { notify, runAgent }) {
      const { text, notices } = expandCommand(command, args);
      for (const notice of notices) notify(notice, 'warning');
      await runAgent(text);
    },
  };
}
