// The table of slash commands: the built-in ones, and the user's own from command files.
import { expandCommand, type UserCommand } from '../../agent/index.ts';
import { closestMatches } from '../../core/index.ts';
import type { SlashCommand } from './slash-command.ts';
import { agentsCommand } from './agents-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { historyCommands } from './history-commands.ts';
import { mcpCommand } from './mcp-command.ts';
import { modelCommands } from './model-commands.ts';
import { infoCommands } from './info-commands.ts';
import { permissionCommands } from './permission-commands.ts';
import { planCommand } from './plan-command.ts';
import { privateCommand } from './private-command.ts';
import { promptCommands } from './prompt-commands.ts';
import { sessionCommands } from './session-commands.ts';
import { verifyCommand } from './verify-command.ts';
import { whyCommand } from './why-command.ts';
import { workspaceCommands } from './workspace-commands.ts';
import { worktreeCommand } from './worktree-command.ts';

const helpCommand: SlashCommand = {
  name: 'help',
  description: 'show this list',
  allowedDuringRun: true,
  run(_, { conversation, showPage }) {
    const rows = listSlashCommands(conversation.agent.commands).map(
      ({ name, argumentHint = '', description }) => `/${`${name} ${argumentHint}`.padEnd(26)} ${description}`,
    );
    showPage([...rows, '', ...keyHelp].join('\n'), 'Commands');
  },
};

const keyHelp = [
  '!command runs a shell command and shows its output to the model; !!command hides it from the model; @ completes files.',
  'Enter sends, or steers a run; Alt+Enter queues a follow-up; Shift+Enter starts a new line; Ctrl+R searches earlier inputs.',
  'Esc interrupts; Esc Esc goes back to an earlier message; Shift+Tab changes the permission mode; Ctrl+O unfolds; Ctrl+T hides reasoning; Ctrl+D quits.',
];

const builtinCommands: readonly SlashCommand[] = [
  helpCommand,
  ...infoCommands,
  ...modelCommands,
  ...sessionCommands,
  ...historyCommands,
  ...promptCommands,
  ...permissionCommands,
  planCommand,
  privateCommand,
  verifyCommand,
  mcpCommand,
  agentsCommand,
  ...workspaceCommands,
  worktreeCommand,
  whyCommand,
  doctorCommand,
];

/** Returns all slash commands: the built-in ones, then the user's own with other names. */
export function listSlashCommands(userCommands: readonly UserCommand[]): readonly SlashCommand[] {
  const builtinNames = new Set(builtinCommands.map(({ name }) => name));
  return [...builtinCommands, ...userCommands.filter(({ name }) => !builtinNames.has(name)).map(toSlashCommand)];
}

/** Parses a line into its slash command and arguments; undefined if there is no command of that name. */
export function parseSlashCommand(
  line: string,
  userCommands: readonly UserCommand[],
): { readonly command: SlashCommand; readonly args: string } | undefined {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = listSlashCommands(userCommands).find((each) => each.name === name);
  return command && { command, args };
}

/** The message for an unknown slash command, with similar names. */
export function formatUnknownCommand(line: string, userCommands: readonly UserCommand[]): string {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const similar = closestMatches(
    name,
    listSlashCommands(userCommands).map((each) => each.name),
  );
  return `There is no command /${name}${similar.length ? `; did you mean /${similar.join(' or /')}?` : ': /help lists them.'}`;
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
