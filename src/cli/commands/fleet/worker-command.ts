// The `worker` command: takes runs from the queue and works on them until it is told to end.
import type { FleetRun, FleetStore, RunSettlement } from '../../../core/index.ts';
import { getWorkerInfo } from '../../../fleet/health/index.ts';
import { startWorker, type Worker } from '../../../fleet/index.ts';
import { listOpenRuns, summarizeBlockedRuns } from '../../../fleet/blocked-runs.ts';
import type { Command } from '../../args/command.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { withOptions } from '../../args/with-usage.ts';
import { print, printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { version } from '../../version.ts';
import { createRunHandlers } from '../../../coding-agent/fleet/run-handlers.ts';
import { formatSettlement } from './format-runs.ts';
import { parseCount } from './parse-numbers.ts';
import { drainExitCode, formatDrainReport } from './drain-report.ts';
import { retentionOptions, withFleetStore } from './open-store.ts';
import { announceDefaultModel } from '../../../coding-agent/models/default-model.ts';

const usage = `Usage: fairlead worker [--concurrency <n>] [--model <name>] [--drain] [--name <name>] [--grace <seconds>] [--store <file or address>] [--any-version] [--json]

Takes runs from the queue (fairlead enqueue, fairlead factory, fairlead serve) and works on them, 4 at a time unless told
otherwise; --drain ends it once nothing is left that could be begun now, and says what is left and why. Ctrl+C or SIGTERM hands its runs over to other workers once their
steps under way are done, within 10 seconds unless --grace says otherwise; a second one hands them over at once. Any number
of workers may share a store. Runs that name no model use --model, or the one that is set here. A run goes on with the version of this program that began it, unless --any-version is given.`;

const stringOption = { type: 'string' } as const;
const options = {
  concurrency: stringOption,
  model: stringOption,
  drain: { type: 'boolean' },
  name: stringOption,
  grace: stringOption,
  store: stringOption,
  'any-version': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** Works: 0 nothing is left, 5 some wait for a person, 8 some may not be begun now, 130 or 143 told to end by a signal, 1 where it cannot, 2 misused. */
export const run: Command['run'] = withOptions({ usage, options }, async (values) => {
  const concurrency = parseCount('--concurrency', values.concurrency);
  const grace = parseCount('--grace', values.grace, 0);
  const anyVersion = values['any-version'] === true;
  return withFleetStore(values.store, async (store) => {
    if (!process.connected) await announceDefaultModel(readSettings(), values.model, (line) => printErr(`${line}\n`));
    if (!anyVersion && !values.drain) await reportOtherVersions(store);
    const worker = startWorker({
      store,
      handlers: createRunHandlers((text) => printErr(`${text}\n`), values.model),
      info: getWorkerInfo,
      notify: (sentence) => printErr(`${sentence}\n`),
      onSettled: (each, settlement) => printSettlement(each, settlement, values.json === true),
      ...retentionOptions(readSettings()),
      ...(anyVersion ? {} : { version }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(values.drain ? { drain: true } : {}),
      ...(values.name === undefined ? {} : { name: values.name }),
      ...(grace === undefined ? {} : { graceMs: grace * 1000 }),
    });
    const code = await waitForWorkerEnd(worker, () => {
      if (!process.connected) printErr(`Worker ${worker.id} works on ${store.description}\n`);
    });
    if (!values.drain || code !== exitCodes.answered) return code;
    const remains = await summarizeBlockedRuns(store, await listOpenRuns(store), anyVersion ? undefined : version);
    for (const line of formatDrainReport(remains)) printErr(`${line}\n`);
    return drainExitCode(remains);
  });
});

function printSettlement(run: FleetRun, settlement: RunSettlement, json: boolean): void {
  const line = json ? JSON.stringify({ run: run.id, ...settlement }) : formatSettlement(run, settlement);
  if (line !== undefined) print(`${line}\n`);
  // Whoever started this process as one of several is told.
  if (process.connected) process.send?.({ run: run.id });
}

/** Waits for the end of a worker, and hands its runs over at a signal, which may come once it is ready: in order, then at once, then not at all. */
async function waitForWorkerEnd(worker: Worker, ready: () => void): Promise<number> {
  let code: number = exitCodes.answered;
  let told = 0;
  const handOver = (): void => {
    if (worker.running > 0) printErr(`Handing over ${worker.running} run${worker.running === 1 ? '' : 's'}.\n`);
    worker.stop();
  };
  const end = (signal: NodeJS.Signals): void => {
    told++;
    // The store takes back what is left behind.
    if (told > 2) process.exit(code);
    if (told === 2) return worker.abort();
    code = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    handOver();
  };
  process.on('SIGINT', end).on('SIGTERM', end).once('disconnect', handOver);
  ready();
  try {
    await worker.done;
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end).off('disconnect', handOver);
    if (process.connected) process.disconnect();
  }
  return code;
}

/** Runs that another version began wait for it: nobody should wonder why they stay. */
async function reportOtherVersions({ queue }: FleetStore): Promise<void> {
  const waiting = await queue.list({ status: 'queued', limit: 1000 });
  const others = waiting.flatMap((run) => (run.version === undefined || run.version === version ? [] : [run.version]));
  const remains = { later: 0, version: others.length, versions: [...new Set(others)], person: 0 };
  for (const line of formatDrainReport(remains)) printErr(`${line}\n`);
}
