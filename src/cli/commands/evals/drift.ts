// The `evals drift` command: measures whether a model became worse than its baseline, once or on a schedule.
import path from 'node:path';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  driftRunKind,
  formatDriftResult,
  measureModelDrift,
  saveDriftPlan,
  type DriftPlan,
} from '../../../evals/index.ts';
import { onShutdown } from '../../args/shutdown-signals.ts';
import { print, printErr } from '../../args/stdio.ts';
import { withOptions } from '../../args/with-usage.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';
import { createProgressLine } from './progress.ts';
import { parseCount } from './run-options.ts';

const usage = `Usage: fairlead evals drift [<dataset>] [--model <name>] [--trials <n>] [--parallel <n>] [--accept] [--json]
       fairlead evals drift [<dataset>] --every <cron> --name <name> [--model <name>] [--trials <n>] [--store <file or url>]

Runs a dataset, by default the built-in trap set, and compares it case by case with the baseline of the same provider, model
and cases; the first run is the baseline, and --accept makes this run the new one. Exit code 1 if the model became worse.
With --every it runs on a schedule (UTC), by workers on this machine; the health page and the metrics show the result.`;

const options = {
  model: { type: 'string', short: 'm' },
  trials: { type: 'string' },
  parallel: { type: 'string' },
  accept: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  every: { type: 'string' },
  name: { type: 'string' },
  store: { type: 'string' },
} as const;

/** Measures drift, or schedules it; exit code 0 not worse, 1 worse or not measured, 2 invalid arguments. */
export const driftCommand: (args: readonly string[]) => Promise<number> = withOptions(
  { usage, options, allowPositionals: true },
  async (values, positionals) => {
    const [file, ...more] = positionals;
    if (more.length > 0) throw new TypeError(`Only one dataset can be given; unexpected: ${more.join(' ')}.`);
    if ((values.every === undefined) !== (values.name === undefined))
      throw new TypeError('--every and --name must be used together.');
    const plan: DriftPlan = {
      trials: parseCount('trials', values.trials),
      parallel: parseCount('parallel', values.parallel),
      ...(file === undefined ? {} : { dataset: path.resolve(file) }),
      ...(values.model === undefined ? {} : { model: values.model }),
    };
    const settings = readSettings();
    if (values.every !== undefined && values.name !== undefined) {
      saveDriftPlan(settings.dirs.state, values.name, plan);
      await schedule(values.every, values.name, values.store);
      return 0;
    }
    const signals = onShutdown(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {});
    const line = createProgressLine();
    try {
      const host = createTtyHost(printErr);
      const onProgress = line.show.bind(line);
      const result = await measureModelDrift({
        ...plan,
        settings,
        host,
        signal: signals.signal,
        accept: values.accept,
        onProgress,
      });
      line.clear();
      print(
        values.json
          ? `${JSON.stringify({ drift: result.drift, isWorse: result.isWorse })}\n`
          : formatDriftResult(result),
      );
      return result.isWorse ? 1 : 0;
    } finally {
      line.clear();
      signals.release();
    }
  },
);

async function schedule(cron: string, name: string, location: string | undefined): Promise<void> {
  const { withFleetStore } = await import('../fleet/open-store.ts');
  await withFleetStore(location, async (store) => {
    const run = { prompt: `Baseline ${name}`, kind: driftRunKind, settings: { plan: name } };
    await store.queue.setSchedule({ name, cron, run });
  });
  printErr(
    `${name} runs at ${cron} (UTC) if a worker is running. To remove it: fairlead fleet schedules --remove ${name}\n`,
  );
}
