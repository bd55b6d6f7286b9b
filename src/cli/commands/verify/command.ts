// The `verify` command: calibrates the confidence of answers on labels, lists calibrations, and measures how well a confidence separates right from wrong.
import type { Command } from '../../args/command.ts';
import { printErr, printUsage } from '../../args/stdio.ts';
import { withProgramName } from '../../args/program-name.ts';

const usage = `Usage: fairlead verify calibrate <labels.jsonl> [--model <name>] [--task <kind>] [--max-error 5%] [--probability 95%] [--json]
       fairlead verify calibrations [--json]
       fairlead verify measure <labels.jsonl> [--samples 5,10] [--half first|second] [--json]

calibrate     find and store the confidence from which answers are accepted
calibrations  list what is stored
measure       show how well the confidence separates right from wrong answers`;

/** Runs a subcommand; exit code 0 done, 1 failed or no threshold, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'calibrate') return (await import('./calibrate.ts')).calibrateCommand(rest);
  if (verb === 'calibrations') return (await import('./calibrations.ts')).calibrationsCommand(rest);
  if (verb === 'measure') return (await import('./measure.ts')).measureCommand(rest);
  if (verb === '--help' || verb === '-h') return (printUsage(usage), 0);
  if (verb !== undefined) printErr(`verify has no subcommand ${JSON.stringify(verb)}.\n`);
  printErr(`${withProgramName(usage)}\n`);
  return 2;
};
