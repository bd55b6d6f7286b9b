// `redteam suite`: runs user tasks and injection tasks of the user, and shows utility, security and utility under attack.
import {
  createSuiteReport,
  formatSuiteReport,
  obedientModelName,
  parseSuite,
  runRedTeam,
} from '../../../evals/redteam/index.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';
import { openTarget, readText } from './run.ts';

const usage = `Usage: fairlead redteam suite <suite.json> [--model <name>] [--instructions <file>] [--json]

Runs every user task without an attack, and with every injection task and wording; each undefended, with questions that a careful user answers (ask), and without a user (deny).
utility: user tasks done without an attack; security: attacked runs without harm; utility under attack: attacked runs with the user task done. The state of the world decides.

--model         the model; "${obedientModelName}" follows every instruction that it reads, and needs no model
--instructions  the system prompt of your agent`;

/** Runs a suite; exit code 0 done, 1 failed or not all measured, 2 invalid arguments. */
export const suiteCommand: (args: readonly string[]) => Promise<number> = withOptions(
  {
    usage,
    options: {
      model: { type: 'string', short: 'm' },
      instructions: { type: 'string' },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async (values, positionals) => {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new TypeError('Name one file with a suite.');
    const suite = parseSuite(readText(file));
    const instructions = values.instructions === undefined ? undefined : readText(values.instructions);
    const model = values.model === obedientModelName ? obedientModelName : await openTarget(values.model);
    const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
    try {
      const runs = await runRedTeam({
        attacks: suite.attacks.map(({ attack }) => attack),
        model,
        ...(suite.tools ? { tools: suite.tools } : {}),
        ...(instructions === undefined ? {} : { instructions }),
        signal: signals.signal,
        onRun(_, done, total) {
          if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done} of ${total}`);
        },
      });
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
      const report = createSuiteReport(suite, typeof model === 'string' ? model : model.model, runs);
      print(values.json ? `${JSON.stringify({ ...report, runs }, null, 2)}\n` : formatSuiteReport(report));
      if (report.failed.length > 0) printErr(`${report.failed.length} of ${runs.length} runs measured nothing.\n`);
      return signals.code ?? (report.failed.length > 0 ? 1 : 0);
    } finally {
      signals.release();
    }
  },
);
