// The `scorecard` command: shows the measured claims of the product, and measures them on this machine.
import { formatColumns } from '../../../core/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { createScorecard, getMeasurementsDir, readMeasurements, scorecardClaims } from '../../../fleet/health/index.ts';
import type { MeasuredRow } from '../../../evals/scorecard/index.ts';
import type { Command } from '../../args/command.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';

const usage = `Usage: fairlead scorecard [show | run] [--only <ids>] [--model <name>] [--runs <n>] [--json]

Shows the claims of the product that were measured on this machine, as counts with 95 % intervals.
"run" measures them: attacks, secrets, crashes, prefixes and verification without a model; the trap set and the promise with the configured model.

--only    only these claims, separated by commas: ${scorecardClaims.map(({ id }) => id).join(', ')}
--model   the model to measure
--runs    how many runs are killed (default 10)`;

const maxRuns = 1000;

/** Shows or measures the scorecard; exit code 0 done, 1 a claim could not be measured, 2 invalid arguments. */
export const run: Command['run'] = withOptions(
  {
    usage,
    options: {
      only: { type: 'string' },
      model: { type: 'string', short: 'm' },
      runs: { type: 'string' },
      json: { type: 'boolean', default: false },
    } as const,
    allowPositionals: true,
  },
  async ({ only, model, runs, json }, [verb = 'show', folder, ...more]) => {
    if (verb === 'crash-child' && folder !== undefined && more.length === 0)
      return (await (await import('../../../evals/scorecard/index.ts')).runCrashChild(folder)) ? 0 : 1;
    if ((verb !== 'show' && verb !== 'run') || folder !== undefined)
      throw new TypeError(`Unknown subcommand: ${folder ?? verb}.`);
    const ids = parseIds(only);
    const crashRuns = parseRuns(runs);
    const directory = getMeasurementsDir(readSettings().dirs.state);
    const rows =
      verb === 'show'
        ? createScorecard(readMeasurements(directory)).filter(({ id }) => ids.includes(id))
        : await measure({ directory, ids, model, crashRuns });
    print(json ? `${JSON.stringify({ rows }, null, 2)}\n` : formatScorecard(rows));
    return verb === 'run' && rows.some((row) => 'reason' in row) ? 1 : 0;
  },
);

function parseIds(only: string | undefined): readonly string[] {
  const known = scorecardClaims.map(({ id }) => id);
  const wanted = only?.split(',').map((id) => id.trim()) ?? known;
  const unknown = wanted.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new TypeError(`There is no claim ${unknown.join(', ')}.`);
  return wanted;
}

function parseRuns(runs: string | undefined): number | undefined {
  if (runs === undefined) return undefined;
  if (/^\d{1,4}$/.test(runs) && Number(runs) >= 1 && Number(runs) <= maxRuns) return Number(runs);
  throw new TypeError(`--runs is a whole number from 1 to ${maxRuns}, not "${runs}".`);
}

type MeasureOptions = {
  readonly directory: string;
  readonly ids: readonly string[];
  readonly model: string | undefined;
  readonly crashRuns: number | undefined;
};

async function measure({ directory, ids, model, crashRuns }: MeasureOptions): Promise<readonly MeasuredRow[]> {
  const { runScorecard } = await import('../../../evals/scorecard/index.ts');
  const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
  try {
    return await runScorecard({
      directory,
      only: ids,
      program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
      ...(model === undefined ? {} : { model }),
      ...(crashRuns === undefined ? {} : { crashRuns }),
      signal: signals.signal,
      onStart: (titles) => printErr(`Measuring: ${titles.join(', ')}\n`),
    });
  } finally {
    signals.release();
  }
}

const formatPercent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Formats the rows as a table; a row without a figure says why. */
function formatScorecard(rows: readonly MeasuredRow[]): string {
  const table = rows.map((row) => {
    const { reason, title } = row;
    if (!row.measured)
      return [title, 'not measured', '', reason ?? `fairlead scorecard run${row.needs ? ` (needs ${row.needs})` : ''}`];
    const [low, high] = row.interval;
    const note = reason === undefined ? (row.about ?? '') : `not measured again: ${reason}`;
    return [title, `${row.good} of ${row.total}`, `${formatPercent(low)} to ${formatPercent(high)}`, note];
  });
  return formatColumns([['claim', 'result', '95 % interval', 'measured'], ...table]);
}
