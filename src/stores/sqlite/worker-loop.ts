// Worker loop of a SQLite store: claims runs, handles them, writes their results, and takes over from expired processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type WorkOptions } from '../../core/index.ts';
import { runAndWriteResult, type RunClaim } from '../run-and-write-result.ts';
import { rateDelayMs, storedWaitingStatus } from '../run-row.ts';
import type { SqliteContext } from './context.ts';
import { claimSqliteRuns, failRun, findNextRun, completeRun } from './claim.ts';
import { readSqliteQueueLimits } from './fleet-control.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { enqueueDueSqliteSchedules } from './schedules.ts';

/** How often a worker checks for expired leases, due schedules and due runs. */
const maintenanceIntervalMs = 1000;

/** Works on runs until the signal aborts, or until the queue is empty if `drain` is set. */
export async function runSqliteWorkerLoop(
  context: SqliteContext,
  lease: SqliteProcessLease,
  work: WorkOptions,
  retryMs: number,
): Promise<void> {
  const active = new Set<Promise<unknown>>();
  const waiter = context.waiters.add('queue');
  let lastMaintenance = -Infinity;

  async function maintain(): Promise<void> {
    if (performance.now() - lastMaintenance < maintenanceIntervalMs) return;
    lastMaintenance = performance.now();
    await lease.reapExpired();
    await enqueueDueSqliteSchedules(context);
  }

  function start(claim: RunClaim): void {
    const done = runAndWriteResult(claim, work.handle, {
      onLost: lease.onLost,
      complete: (each, settlement) => completeRun(context, each, settlement),
      fail: (each, thrown) => failRun(context, each, thrown, retryMs),
      isClosed: () => context.isClosed,
    }).finally(() => {
      active.delete(done);
      context.waiters.notify('queue');
    });
    active.add(done);
  }

  /** Claims what it can. Returns whether there is nothing left to wait for. */
  async function step(): Promise<boolean> {
    await maintain();
    const maxRuns = work.concurrency - active.size;
    // Reads before it asks for the write lock: an idle worker changes nothing.
    if (maxRuns > 0 && context.read(() => findNextRun(context, work.version)) !== undefined) {
      if (work.signal.aborted) return true;
      for (const claim of await claimSqliteRuns(context, lease, work, maxRuns)) start(claim);
      return false;
    }
    if (work.drain && active.size === 0 && isDrained(context, work.version)) return true;
    await waiter.wait({ signal: work.signal, ms: msUntilNext(context) });
    return false;
  }

  try {
    while (!work.signal.aborted) if (await step().catch(retryLater)) return;
  } finally {
    await Promise.all(active);
    waiter.remove();
  }
}

/** A store that is unreachable for a while does not end the worker. */
async function retryLater(error: unknown): Promise<boolean> {
  if (!(error instanceof FairleadError) || !error.retry) throw error;
  await sleep(maintenanceIntervalMs);
  return false;
}

/**
 * Whether this worker can claim nothing now and nothing is running that might be queued again. Not waited for: a run that is due later, and
 * a run whose session is held by a waiting run or by a run of another version.
 */
function isDrained(context: SqliteContext, version: string | undefined): boolean {
  const isOwn = '(?1 IS NULL OR version IS NULL OR version = ?1)';
  const runningSql = `SELECT 1 FROM runs WHERE status = 'running' AND ${isOwn} LIMIT 1`;
  const queuedSql = `
    SELECT 1 FROM runs AS run WHERE status = 'queued' AND ${isOwn} AND coalesce(later, 0) <= ?2 AND NOT EXISTS (
      SELECT 1 FROM runs AS other INDEXED BY runs_open
      WHERE other.session = run.session AND other.status <> 'ended' AND other.started IS NOT NULL AND other.key <> run.key
        AND (other.status = '${storedWaitingStatus}' OR other.version <> ?1)
    )
    LIMIT 1`;
  const own = version ?? null;
  return context.read(() => !context.one(runningSql, own) && !context.one(queuedSql, own, Date.now()));
}

/** Milliseconds until the next step if no change comes before. */
function msUntilNext(context: SqliteContext): number {
  const now = Date.now();
  const sql = "SELECT min(due) AS due FROM runs WHERE status = 'queued' AND due > ?";
  const due = context.read(() => context.one<{ due: number | null }>(sql, now))?.due ?? Infinity;
  const limits = context.read(() => readSqliteQueueLimits(context));
  return Math.max(1, Math.min(maintenanceIntervalMs, due - now, rateDelayMs(limits)));
}
