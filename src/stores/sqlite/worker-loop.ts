// A worker's round: take what may be taken, work on it, write down what came of it, look after what the dead left.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type WorkOptions } from '../../core/index.ts';
import type { SqliteContext } from './context.ts';
import { claimSqliteRuns, failRun, findNextRun, readSqliteQueueLimits, completeRun, type RunClaim } from './claim.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { enqueueDueSqliteSchedules } from './schedules.ts';

/** How often at least a worker looks after the dead, the schedules and what is due. */
const maintenanceIntervalMs = 1000;

/** Works on runs until told to stop. */
export async function runSqliteWorkerLoop(
  base: SqliteContext,
  presence: SqliteProcessLease,
  work: WorkOptions,
  retryMs: number,
): Promise<void> {
  const under = new Set<Promise<void>>();
  let looked = -Infinity;

  async function lookAfter(): Promise<void> {
    if (performance.now() - looked < maintenanceIntervalMs) return;
    looked = performance.now();
    await presence.reapExpired();
    await enqueueDueSqliteSchedules(base);
  }

  function begin(each: RunClaim): void {
    const done = handleRun(base, presence, work, each, retryMs).finally(() => {
      under.delete(done);
      base.waiters.notify('queue');
    });
    under.add(done);
  }

  /** One look at the queue; answers whether there is nothing left to wait for. */
  async function round(): Promise<boolean> {
    await lookAfter();
    const free = work.concurrency - under.size;
    // Looks before it asks for the right to write: an idle worker changes nothing.
    if (free > 0 && base.read(() => findNextRun(base, work.version)) !== undefined) {
      if (work.signal.aborted) return true;
      for (const each of await claimSqliteRuns(base, presence, work, free)) begin(each);
      return false;
    }
    if (work.drain && under.size === 0 && isDrained(base, work.version)) return true;
    // Nothing may be awaited between the look and this: what is told in between would be missed.
    await base.waiters.waitForChange('queue', { signal: work.signal, ms: msUntilNext(base) });
    return false;
  }

  try {
    while (!work.signal.aborted) if (await round().catch(retryLater)) return;
  } finally {
    await Promise.all(under);
  }
}

/** A store that is out of reach for a while is no reason to give up. */
async function retryLater(error: unknown): Promise<boolean> {
  if (!(error instanceof FairleadError) || !error.retry) throw error;
  await sleep(maintenanceIntervalMs);
  return false;
}

/**
 * Nothing that this worker could take by now, and nothing under way that might come back. What waits for a run that rests waits for a person;
 * what is to begin later, or waits for a run that another version began, is not waited for either.
 */
function isDrained(base: SqliteContext, version: string | undefined): boolean {
  const mine = '(?1 IS NULL OR version IS NULL OR version = ?1)';
  const running = `SELECT 1 FROM runs WHERE status = 'running' AND ${mine} LIMIT 1`;
  const waiting = `
    SELECT 1 FROM runs AS run WHERE status = 'queued' AND ${mine} AND coalesce(later, 0) <= ?2 AND NOT EXISTS (
      SELECT 1 FROM runs AS other INDEXED BY runs_open
      WHERE other.session = run.session AND other.status <> 'ended' AND other.started IS NOT NULL AND other.key <> run.key
        AND (other.status = 'resting' OR other.version <> ?1)
    )
    LIMIT 1`;
  const own = version ?? null;
  return base.read(() => !base.one(running, own) && !base.one(waiting, own, Date.now()));
}

/** Until the next look: no longer than until something falls due. */
function msUntilNext(base: SqliteContext): number {
  const now = Date.now();
  const sql = "SELECT min(due) AS due FROM runs WHERE status = 'queued' AND due > ?";
  const due = base.read(() => base.one<{ due: number | null }>(sql, now))?.due ?? Infinity;
  const { rate } = base.read(() => readSqliteQueueLimits(base));
  const pace = rate ? Math.max(10, rate.ms / rate.runs) : Infinity;
  return Math.max(1, Math.min(maintenanceIntervalMs, due - now, pace));
}

async function handleRun(
  base: SqliteContext,
  presence: SqliteProcessLease,
  work: WorkOptions,
  claim: RunClaim,
  retryMs: number,
): Promise<void> {
  const control = new AbortController();
  const forget = presence.onLost(claim.holder, () => control.abort(runLostError(claim.run.id)));
  try {
    const write = await work.handle(claim.run, control.signal).then(
      (settlement) => () => completeRun(base, claim, settlement),
      (error: unknown) => () => failRun(base, claim, error, retryMs),
    );
    await writeWithRetry(base, control.signal, write);
  } finally {
    forget();
  }
}

/** What came of a run must be written: a store that is out of reach is tried again until the run is not ours any more. */
async function writeWithRetry(base: SqliteContext, signal: AbortSignal, write: () => Promise<void>): Promise<void> {
  for (let wait = 100; !signal.aborted && !base.isClosed; wait = Math.min(5000, wait * 2)) {
    try {
      return await write();
    } catch {
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
}

const runLostError = (run: string): FairleadError =>
  new FairleadError('run/left', `Run ${run} was taken over by another worker.`, { blame: 'store' });
