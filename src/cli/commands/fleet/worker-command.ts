// The `worker` command: takes runs from the queue and executes them until it gets a signal.
import type { FleetRun, FleetStore, RunSettlement } from '../../../core/index.ts';
import { getWorkerInfo } from '../../../fleet/health/index.ts';
import { startWorker, type Worker, listOpenRuns, summarizeBlockedRuns } from '../../../fleet/index.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { stringOption, withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { version } from '../../version.ts';
import { announceDefaultModel, loadRunHandlers } from '../../../coding-agent/fleet/index.ts';
import type { ControlThread } from '../../../server/control/index.ts';
import { parseWatchdog, withControlThread } from './control.ts';
import { lazyDriftHandler } from './drift-handler.ts';
import { formatSettlement } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { drainExitCode, formatDrainReport } from './drain-report.ts';
import { retentionOptions, withFleetStore } from './open-store.ts';

const usage = `Usage: fairlead worker [--concurrency <n>] [--model <name>] [--drain] [--name <name>] [--grace <seconds>] [--watchdog <seconds>] [--store <file or url>] [--releases <folder>] [--any-version] [--json]

Takes runs from the queue (fairlead enqueue, fairlead factory, fairlead serve) and executes them, by default 4 at a time;
--drain exits when no run can start now, and prints which runs are left and why. Ctrl+C or SIGTERM releases its runs to other
workers after their current steps, within 10 seconds (--grace); a second signal releases them at once. Any number of workers
can share a store. A worker whose main thread does not answer for 30 seconds (--watchdog, 0 for never) is ended with exit
code 9; start it again. Runs without a model use --model, or the configured one. A run is continued by the version of this program that started it, unless --any-version is given. Runs use the release that is in use (fairlead release); --releases names another folder of releases.`;

const options = {
  concurrency: stringOption,
  model: stringOption,
  drain: { type: 'boolean' },
  name: stringOption,
  grace: stringOption,
  watchdog: stringOption,
  store: stringOption,
  releases: stringOption,
  'any-version': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** Works; exit code 0 no runs are left, 5 some wait for approval, 8 some cannot start now, 9 by its watchdog, 130 or 143 by a signal, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  const concurrency = parseCount('--concurrency', values.concurrency);
  const grace = parseCount('--grace', values.grace, 0);
  const anyVersion = values['any-version'] === true;
  const watchdog = parseWatchdog(values.watchdog, readSettings());
  return withFleetStore(values.store, async (store, storeUrl) => {
    if (!process.connected) await announceDefaultModel(readSettings(), values.model, (line) => printErr(`${line}\n`));
    if (!anyVersion && !values.drain) await reportOtherVersions(store);
    const code = await withControlThread({ store: storeUrl, ...watchdog }, (control) => work(store, control));
    if (!values.drain || code !== exitCodes.answered) return code;
    const blocked = await summarizeBlockedRuns(store, await listOpenRuns(store), anyVersion ? undefined : version);
    for (const line of formatDrainReport(blocked)) printErr(`${line}\n`);
    return drainExitCode(blocked);
  });

  async function work(store: FleetStore, control: ControlThread): Promise<number> {
    const worker = startWorker({
      store,
      onStatus: control.report,
      handlers: {
        ...(await loadRunHandlers((text) => printErr(`${text}\n`), { model: values.model }, values.releases)),
        'eval-drift': lazyDriftHandler((text) => printErr(`${text}\n`)),
      },
      info: getWorkerInfo,
      notify: (text) => printErr(`${text}\n`),
      onSettled: (settledRun, settlement) => printSettlement(settledRun, settlement, values.json === true),
      ...retentionOptions(readSettings()),
      ...(anyVersion ? {} : { version }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(values.drain ? { drain: true } : {}),
      ...(values.name === undefined ? {} : { name: values.name }),
      ...(grace === undefined ? {} : { graceMs: grace * 1000 }),
    });
    return waitForWorkerEnd(worker, () => {
      if (!process.connected) printErr(`Worker ${worker.id} is connected to ${store.description}\n`);
    });
  }
});

function printSettlement(run: FleetRun, settlement: RunSettlement, json: boolean): void {
  const line = json ? JSON.stringify({ run: run.id, ...settlement }) : formatSettlement(run, settlement);
  if (line !== undefined) print(`${line}\n`);
  // A parent process such as `fairlead factory` is notified.
  if (process.connected) process.send?.({ run: run.id });
}

/** Waits until the worker ends. The first signal releases its runs after the current steps, the second at once, the third exits. */
async function waitForWorkerEnd(worker: Worker, onReady: () => void): Promise<number> {
  let code: number = exitCodes.answered;
  let signalCount = 0;
  const release = (): void => {
    if (worker.running > 0) printErr(`Releasing ${worker.running} run${worker.running === 1 ? '' : 's'}.\n`);
    worker.stop();
  };
  const handle = (signal: NodeJS.Signals): void => {
    signalCount++;
    // The leases of the remaining runs expire in the store.
    if (signalCount > 2) process.exit(code);
    if (signalCount === 2) return worker.abort();
    code = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    release();
  };
  process.on('SIGINT', handle).on('SIGTERM', handle).once('disconnect', release);
  onReady();
  try {
    await worker.done;
  } finally {
    process.off('SIGINT', handle).off('SIGTERM', handle).off('disconnect', release);
    if (process.connected) process.disconnect();
  }
  return code;
}

/** Reports queued runs that another version started: this worker does not take them. */
async function reportOtherVersions({ queue }: FleetStore): Promise<void> {
  const queued = await queue.list({ status: 'queued', limit: 1000 });
  const others = queued.flatMap((run) => (run.version === undefined || run.version === version ? [] : [run.version]));
  const blocked = { later: 0, version: others.length, versions: [...new Set(others)], approval: 0 };
  for (const line of formatDrainReport(blocked)) printErr(`${line}\n`);
}
