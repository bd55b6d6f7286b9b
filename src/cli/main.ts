// The terminal's front door: picks a command, answers --help and --version itself, and hands everything else to the front.
import { nearest } from '../core/near.ts';
import { commands as ownCommands, type CommandTable } from './commands.ts';
import { exitCodes } from './front/exit-codes.ts';
import { version } from './version.ts';

/** Runs a command line and answers with the exit code. */
export async function main(args: readonly string[], commands: CommandTable = ownCommands): Promise<number> {
  const [first, ...rest] = args;
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    const { helpText } = await import('./front/help.ts');
    process.stdout.write(helpText(commands));
    return 0;
  }
  const entry = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (entry) return (await entry.load()).run(rest);
  const meant = rest.length === 0 ? mistyped(first, commands) : undefined;
  if (meant !== undefined) {
    process.stderr.write(
      `There is no command "${first}"; did you mean "${meant}"? To ask a model this one word: fairlead run ${first}\n`,
    );
    return exitCodes.misused;
  }
  const { front } = await import('./front/front.ts');
  return front(args, undefined);
}

/** The command that a lone word was probably meant to be: "sesions" is no prompt. */
function mistyped(word: string | undefined, commands: CommandTable): string | undefined {
  if (word === undefined || !/^[a-z-]+$/.test(word) || word.startsWith('-')) return undefined;
  return nearest(word, Object.keys(commands)).find((name) => Math.abs(name.length - word.length) <= 2);
}
