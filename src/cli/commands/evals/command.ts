// The `evals` command: runs datasets against models, compares reports, and turns sessions into cases.
import type { Command } from '../../args/command.ts';
import { printUsage } from '../../args/stdio.ts';
import { runUsage } from './run-options.ts';

const usage = `${runUsage}

Other subcommands, each with its own --help:
  fairlead evals compare <before.json> <after.json>   compare two reports case by case
  fairlead evals from-session <session>               turn a bad turn of a session into a regression case
  fairlead evals drift [<dataset>]                    measure whether a model became worse than its baseline`;

/** Runs a subcommand; exit code 0 passed, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'compare') return (await import('./compare.ts')).compareCommand(rest);
  if (verb === 'from-session') return (await import('./from-session.ts')).fromSessionCommand(rest);
  if (verb === 'drift') return (await import('./drift.ts')).driftCommand(rest);
  if (verb === '--help' || verb === '-h') return (printUsage(usage), 0);
  return (await import('./run.ts')).runCommand(verb === 'run' ? rest : args);
};
