// The `redteam` command: measures how far the flow policy stops attacks by untrusted text and keeps the work of users.
import type { Command } from '../../args/command.ts';
import { printErr, printUsage } from '../../args/stdio.ts';
import { withProgramName } from '../../args/program-name.ts';

const usage = `Usage: fairlead redteam [run] [--model <name>] [--kinds <a,b>] [--limit <n>] [--attacks <file.jsonl>] [--adaptive]
                        [--instructions <file>] [--automatic] [--json]
       fairlead redteam suite <suite.json> [--model <name>] [--instructions <file>] [--json]
       fairlead redteam replay <traces.jsonl> --tools <declarations.json> [--own <value>]... [--unattended] [--vary] [--json]
       fairlead redteam detector <file or session>... [--threshold <n>] [--rate <share>] [--json]

run       attack an agent with your model in a simulated world, undefended and defended
suite     run your own user tasks and injection tasks: utility, security, utility under attack
replay    decide about the calls of recorded runs, without a model
detector  count the false alarms of the injection detector on your own documents, and find a threshold`;

/** Runs a subcommand; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb, ...rest] = args;
  if (verb === 'suite') return (await import('./suite.ts')).suiteCommand(rest);
  if (verb === 'replay') return (await import('./replay.ts')).replayCommand(rest);
  if (verb === 'detector') return (await import('./detector.ts')).detectorCommand(rest);
  if (verb === '--help' || verb === '-h') return (printUsage(usage), 0);
  if (verb === 'run' || verb === undefined || verb.startsWith('-'))
    return (await import('./run.ts')).runCommand(verb === 'run' ? rest : args);
  printErr(`redteam has no subcommand ${JSON.stringify(verb)}.\n`);
  printErr(`${withProgramName(usage)}\n`);
  return 2;
};
