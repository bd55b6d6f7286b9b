// The queue of the simulated store, and its worker loop.
import {
  errorMessage,
  FairleadError,
  sleepOn,
  type FleetRun,
  type RunQueue,
  type WorkOptions,
} from '../src/core/index.ts';
import { nextCronTime } from '../src/stores/cron.ts';
import { defaultListLimit } from '../src/stores/defaults.ts';
import { runAndWriteResult, type RunClaim } from '../src/stores/run-and-write-result.ts';
import { assertValidTime, parseQueueLimits, toFleetRun, toQueueDepth } from '../src/stores/run-row.ts';
import { createRunStatsAggregator, type EndedRunRow } from '../src/stores/run-stats.ts';
import { createSchedules } from '../src/stores/schedules.ts';
import type { StoreLink } from './store.ts';

/** How often a worker looks for expired leases, due schedules and due runs, in milliseconds. */
const maintenanceMs = 1000;

/** Creates the queue of a connection. */
export function createModelQueue(link: StoreLink): RunQueue {
  const { state, read, write } = link;
  const { runs, control, schedules } = state.tables;
  const { now } = state.options;

  return {
    async enqueue(newRuns) {
      for (const { notBefore } of newRuns) assertValidTime(notBefore);
      return write('enqueue', () => newRuns.map((run) => toFleetRun(state.runs.add(run))));
    },
    wake: (run) => write('wake', () => state.runs.wake(run)),
    cancel: (run, detail) =>
      write('cancel', () => {
        const row = state.runs.cancel(run, detail);
        return row && toFleetRun(row);
      }),
    run: (id) =>
      read('read run', () => {
        const row = runs.get(id);
        return row && toFleetRun(row);
      }),
    list: (filter = {}) =>
      read('list runs', (): readonly FleetRun[] => {
        const before = filter.before === undefined ? undefined : runs.get(filter.before)?.key;
        return runs
          .rows()
          .toReversed()
          .filter(
            (row) =>
              row.key < (before ?? Infinity) &&
              (['tenant', 'parent', 'session'] as const).every(
                (name) => filter[name] === undefined || filter[name] === row[name],
              ) &&
              (!filter.mentionsAuto || row.settings.includes('"auto":true')),
          )
          .map(toFleetRun)
          .filter(({ status }) => filter.status === undefined || status === filter.status)
          .slice(0, filter.limit ?? defaultListLimit);
      }),
    depth: (tenant) =>
      read('depth', () => {
        const rows = runs.rows().filter((row) => tenant === undefined || row.tenant === tenant);
        const due = rows.filter(({ status, later }) => status === 'queued' && (later ?? 0) <= now());
        const since = due.map(({ queued, later }) => Math.max(queued, later ?? 0));
        return toQueueDepth(
          (status) => rows.filter((row) => row.status === status).length,
          since.length > 0 ? Math.min(...since) : undefined,
        );
      }),
    openBytes: (tenant) =>
      read('open bytes', () =>
        runs
          .rows()
          .filter((row) => row.tenant === tenant && row.status !== 'ended')
          .reduce((sum, { words, settings }) => sum + Buffer.byteLength(words + settings) + 1024, 0),
      ),
    work: (options) => runModelWorkerLoop(link, options),
    limits: () => read('limits', () => parseQueueLimits(control.get('limits'))),
    setLimits: (limits) => write('set limits', () => control.set('limits', JSON.stringify(limits))),
    schedules: createSchedules({
      list: () => read('schedules', () => schedules.rows().toSorted((a, b) => (a.name < b.name ? -1 : 1))),
      save: async () => undefined,
      remove: async () => undefined,
    }).schedules,
    setSchedule: (schedule) =>
      write('set schedule', () => {
        const { name, cron } = schedule;
        if (cron === undefined) return void schedules.remove(name);
        const { prompt: words, ...run } = schedule.run;
        const known = schedules.get(name);
        const next = known?.cron === cron ? known.next : nextCronTime(cron, now());
        schedules.set(name, { name, cron, run: JSON.stringify({ words, ...run }), next });
      }),
    async stats(from, to, bucketMs, tenant) {
      const range = { from: Date.parse(from), to: Date.parse(to), bucketMs };
      const aggregate = createRunStatsAggregator(range);
      return read('stats', () =>
        aggregate(
          runs.rows().flatMap((row): readonly EndedRunRow[] => {
            const cost = state.tables.costs.get(row.id);
            const { ended, started, queued, later } = row;
            if (!cost || ended === null || ended < range.from || ended >= range.to) return [];
            if (tenant !== undefined && row.tenant !== tenant) return [];
            const ready = Math.max(queued, later ?? 0);
            const times = started === null ? [null, null] : [Math.max(0, started - ready), ended - started];
            return [{ ...cost, ended, queue_ms: times[0] ?? null, duration_ms: times[1] ?? null } as EndedRunRow];
          }),
        ),
      );
    },
  };
}

/** Claims runs, handles them and writes their results until the signal aborts, or until the queue is empty if `drain` is set. */
async function runModelWorkerLoop(link: StoreLink, work: WorkOptions): Promise<void> {
  const { state, lease, read, write, addWaiter, isClosed, process } = link;
  const { retryMs } = state.options;
  const { port } = process;
  const active = new Set<Promise<unknown>>();
  const waiter = addWaiter('queue');
  let lastMaintenance = -Infinity;
  let wakeUp: (() => void) | undefined;
  /** The claims that are being handled, each as its run and its attempt. */
  const claimedRuns = new Set<string>();

  async function maintain(): Promise<void> {
    if (port.monotonicMs() - lastMaintenance < maintenanceMs) return;
    lastMaintenance = port.monotonicMs();
    const change = (): void => {
      state.reapExpired(lease.current());
      state.runs.enqueueDueSchedules();
      // A claim whose reply was lost holds runs that no handler knows.
      const own = lease.current();
      if (own !== undefined) state.runs.requeueUnknown(own, new Set(claimedRuns));
    };
    await write('maintain', change, { uncounted: true });
  }

  function start(claim: RunClaim): void {
    const name = `${claim.run.id} ${claim.attempt}`;
    claimedRuns.add(name);
    const done = runAndWriteResult(claim, work.handle, {
      onLost: lease.onLost,
      complete: (each, settlement) =>
        write(`settle ${each.run.id} as ${settlement.type}`, () => state.runs.complete(each, settlement)),
      fail: (each, thrown) => write(`fail ${each.run.id}`, () => state.runs.fail(each, errorMessage(thrown), retryMs)),
      isClosed,
      port,
    }).finally(() => {
      active.delete(done);
      claimedRuns.delete(name);
      wakeUp?.();
    });
    active.add(done);
  }

  async function step(): Promise<boolean> {
    await maintain();
    const maxRuns = work.concurrency - active.size;
    const peek = await read(
      'peek queue',
      () => ({
        hasNext: maxRuns > 0 && state.runs.findNext(work.version) !== undefined,
        isDrained: state.runs.isDrained(work.version),
        waitMs: state.runs.msUntilNext(maintenanceMs),
      }),
      { uncounted: true },
    );
    if (peek.hasNext) {
      if (work.signal.aborted) return true;
      const token = await lease.token();
      const claims = await write(
        'claim',
        () =>
          state.isLeaseValid(token)
            ? state.runs.claim({ worker: work.worker, token, version: work.version, maxRuns })
            : undefined,
        { durable: false },
      );
      if (!claims) lease.lose(token);
      for (const claim of claims ?? []) start(claim);
      return false;
    }
    if (work.drain && active.size === 0 && peek.isDrained) return true;
    const woken = new AbortController();
    wakeUp = () => woken.abort();
    await waiter.wait({ signal: AbortSignal.any([work.signal, woken.signal]), ms: peek.waitMs });
    wakeUp = undefined;
    return false;
  }

  /** A store that is unreachable for a while does not end the worker. */
  async function retryLater(error: unknown): Promise<boolean> {
    if (!(error instanceof FairleadError) || !error.retry) throw error;
    await sleepOn(port, maintenanceMs);
    return false;
  }

  try {
    while (!work.signal.aborted) if (await step().catch(retryLater)) return;
  } finally {
    await Promise.all(active);
    waiter.remove();
  }
}
