// The `dlp` command: shows the personal data and secrets in files, by the detectors and the policy of the user.
import type { Command } from '../../args/command.ts';
import { printErr, printUsage } from '../../args/stdio.ts';
import { withProgramName } from '../../args/program-name.ts';

const usage = `Usage: fairlead dlp scan <files...> [--show] [--json]

scan  count personal data and secrets in files, with the lines they are in`;

/** Runs a subcommand; exit code 0 done, 1 something was found or failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'scan') return (await import('./scan.ts')).scanCommand(rest);
  if (verb === '--help' || verb === '-h') return (printUsage(usage), 0);
  if (verb !== undefined) printErr(`dlp has no subcommand ${JSON.stringify(verb)}.\n`);
  printErr(`${withProgramName(usage)}\n`);
  return 2;
};
