// The terminal's front door: picks a command from the table and answers --help and --version itself.
import { commands as ownCommands, type CommandTable } from './commands.ts';
import { version } from './version.ts';

/** Exit code for a command line that was not understood. */
const misused = 2;

/** Runs a command line and answers with the exit code. */
export async function main(args: readonly string[], commands: CommandTable = ownCommands): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    process.stdout.write(help(commands));
    return 0;
  }
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const entry = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (!entry) {
    const kind = first.startsWith('-') ? 'option' : 'command';
    process.stderr.write(`There is no ${kind} "${first}"; "fairlead --help" lists what there is.\n`);
    return misused;
  }
  const command = await entry.load();
  return command.run(rest);
}

function help(commands: CommandTable): string {
  const rows: [string, string][] = [
    ...Object.entries(commands).map(([name, { summary }]): [string, string] => [name, summary]),
    ['--help', 'show this text'],
    ['--version', 'show the version'],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`);
  return ['Usage: fairlead <command> [options]', '', ...lines, ''].join('\n');
}
