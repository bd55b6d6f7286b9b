// Entry point of the program: selects the command, prints the help and the version, and passes other arguments to the conversation command. Every start loads what this file imports.
import type { CommandTable } from './args/command.ts';
import { readProfile, selectProfile } from './args/profile.ts';
import { commands as allCommands } from './command-table.ts';
import { runExitTasks } from '../core/index.ts';
import { version } from './version.ts';

/** Runs a command line and returns the exit code. */
export async function main(given: readonly string[], commands: CommandTable = allCommands): Promise<number> {
  const selected = await selectProfile(given, (word) => Object.hasOwn(commands, word));
  if ('message' in selected) {
    process.stderr.write(`${selected.message}\n`);
    return 2;
  }
  const { args } = selected;
  const [first, ...rest] = args;
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const command = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined;
  const isConversation = command === undefined || first === 'chat' || first === 'run';
  if (first === 'help' || (isConversation && hasHelpFlag(args))) return printHelp(commands);
  const code = await (command ? (await command.load()).run(rest, commands) : runConversation(args, commands));
  await runExitTasks();
  return code;
}

async function runConversation(args: readonly string[], commands: CommandTable): Promise<number> {
  const { runConversationCommand } = await import('./commands/conversation.ts');
  return runConversationCommand(args, undefined, Object.keys(commands));
}

/**
 * Handles errors of standard output and standard error when their reader has closed the pipe.
 * A closed standard output ends the program as SIGHUP does; a closed standard error is ignored.
 */
export function surviveClosedPipes(): void {
  const { stdout, stderr } = process;
  let closed = false;
  const onError = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
    // A command with its own error listener shuts down by itself.
    if (stream.listenerCount('error') > 1) return;
    // A closed terminal fails writes with EIO before SIGHUP arrives.
    if (error.code !== 'EPIPE' && !(error.code === 'EIO' && stream.isTTY)) throw error;
    // A second SIGHUP would abort the shutdown that the first one started.
    if (stream === stderr || closed) return;
    closed = true;
    if (process.listenerCount('SIGHUP') > 0) process.kill(process.pid, 'SIGHUP');
    else process.exit();
  };
  for (const stream of [stdout, stderr]) stream.on('error', (error) => onError(stream, error));
}

async function printHelp(commands: CommandTable): Promise<number> {
  const [{ helpText }, { wrapText }] = await Promise.all([import('./args/help.ts'), import('./args/wrap-text.ts')]);
  const text = helpText(commands, await readProfile());
  process.stdout.write(process.stdout.isTTY ? wrapText(text, process.stdout.columns) : text);
  return 0;
}

/** Whether --help or -h is among the arguments before `--`; what follows `--` is a prompt. */
function hasHelpFlag(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.some((arg, i) => (end < 0 || i < end) && (arg === '--help' || arg === '-h'));
}
