// Worker loop of a PostgreSQL store: claims runs, handles them, writes their results, and takes over from expired processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type WorkOptions } from '../../core/index.ts';
import { runAndWriteResult } from '../run-and-write-result.ts';
import { storedWaitingStatus } from '../run-row.ts';
import { settlesWithin, closeTimeoutMs, undefinedOnAbort } from '../timeouts.ts';
import type { PostgresContext } from './context.ts';
import { claimPostgresRuns } from './claim.ts';
import { createRunCompleter, type PostgresRunClaim } from './complete-runs.ts';
import type { DbosEngine } from './dbos-engine.ts';
import { isUnreachable, isSerializationConflict, toPostgresError } from './errors.ts';
import { createMaintenance } from './maintenance.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import type { EnqueueRuns } from './runs.ts';

/** What a store provides to its workers. */
export type WorkerResources = {
  readonly retryMs: number;
  readonly enqueue: EnqueueRuns;
  readonly engine: () => Promise<DbosEngine>;
};

/** The shortest and the longest wait between two steps, in milliseconds: while runs are claimed, and while there are none. */
const minPollMs = 5;
const maxPollMs = 1000;
/** A server that starts or stops causes many kinds of error; after so many unknown ones in a row the worker stops. */
const maxUnknownErrors = 10;
/** A workflow that DBOS has not started after so many milliseconds is released. */
const startTimeoutMs = 10_000;

/** Works on runs until the signal aborts, or until the queue is empty if `drain` is set. */
export async function runPostgresWorkerLoop(
  context: PostgresContext,
  lease: PostgresProcessLease,
  { retryMs, enqueue, engine: acquireEngine }: WorkerResources,
  work: WorkOptions,
): Promise<void> {
  const acquired = await undefinedOnAbort(work.signal, acquireEngine());
  if (!acquired) return;
  const engine: DbosEngine = acquired;
  const active = new Map<string, Promise<void>>();
  /** The active runs that DBOS has not started: each with the function that releases it. */
  const unstarted = new Map<string, () => Promise<void>>();
  let isStopping = false;
  const waiter = context.addWaiter('queue');
  const completer = createRunCompleter(context);
  let unknownErrors = 0;
  const maintenance = createMaintenance(context, lease, enqueue, (workflow) => active.has(workflow));

  /** Registers a claimed run, and returns the function that DBOS calls to start it. */
  function register(workflow: string, claim: PostgresRunClaim): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    active.set(workflow, promise);
    const finish = (): void => {
      active.delete(workflow);
      resolve();
      context.notify('queue');
    };
    const timer = setTimeout(() => void release(), startTimeoutMs);
    const release = async (): Promise<void> => {
      clearTimeout(timer);
      unstarted.delete(workflow);
      // If this cannot be written, the run is requeued when the lease of this process expires.
      await settlesWithin(closeTimeoutMs, completer.complete(claim, { type: 'released' }));
      finish();
    };
    unstarted.set(workflow, release);
    return async () => {
      clearTimeout(timer);
      if (!unstarted.delete(workflow)) return;
      try {
        const retryDelayMs = await runAndWriteResult(claim, work.handle, {
          onLost: lease.onLost,
          complete: completer.complete,
          fail: (each, thrown) => completer.fail(each, thrown, retryMs),
          isClosed: () => context.db.isClosed,
        });
        maintenance.scheduleIn(retryDelayMs);
      } finally {
        finish();
      }
    };
  }

  /** Claims as many runs as are free to handle, and returns how many. */
  async function claimRuns(): Promise<number> {
    const maxRuns = work.concurrency - active.size;
    const { isActive, limits } = await maintenance.readQueueState();
    if (maxRuns <= 0 || !isActive || work.signal.aborted) return 0;
    const holder = await lease.token();
    const { claims, claimToken } = await claimPostgresRuns({ context, engine, completer }, work, {
      holder,
      maxRuns,
      limits,
    });
    const bodies = new Map([...claims].map(([workflow, claim]) => [workflow, register(workflow, claim)]));
    if (isStopping) await releaseUnstarted();
    else if (claims.size > 0) await engine.run({ workflows: [...claims.keys()], claimToken }, bodies, work.signal);
    return claims.size;
  }

  const releaseUnstarted = (): Promise<unknown> => Promise.all([...unstarted.values()].map((release) => release()));

  async function step(): Promise<'drained' | 'busy' | 'idle'> {
    try {
      await maintenance.runDue();
      if ((await claimRuns()) > 0) return 'busy';
      return work.drain && active.size === 0 && (await isDrained(context, work.version)) ? 'drained' : 'idle';
    } catch (error) {
      // Active runs continue; the queue is read again when the database is back.
      unknownErrors = isTransientError(error) ? 0 : unknownErrors + 1;
      if (unknownErrors >= maxUnknownErrors || context.db.isClosed)
        throw toPostgresError(error, context.db.description);
      return 'idle';
    }
  }

  try {
    for (let delay = minPollMs; !work.signal.aborted;) {
      const stepping = step();
      const result = await undefinedOnAbort(work.signal, stepping);
      // After an abort, a database that does not reply is waited for only briefly.
      if (result === undefined) await settlesWithin(closeTimeoutMs, stepping);
      if (result === 'busy') unknownErrors = 0;
      if (result === 'drained') return;
      delay = result === 'busy' ? minPollMs : Math.min(maxPollMs, delay * 2);
      const ms = Math.min(delay, maintenance.msUntilNext());
      if (await waiter.wait({ signal: work.signal, ms })) delay = minPollMs;
      // Runs that end at the same time are replaced by one claim.
      await sleep(minPollMs);
    }
  } finally {
    isStopping = true;
    await releaseUnstarted();
    await Promise.all(active.values());
    waiter.remove();
  }
}

const isTransientError = (error: unknown): boolean =>
  isUnreachable(error) ||
  isSerializationConflict(error) ||
  (error instanceof FairleadError && error.code === 'store/unreachable');

/**
 * Whether this worker can claim nothing now and nothing is running that might be queued again. Not waited for: a run that is due later, and
 * a run whose session is held by a waiting run or by a run of another version.
 */
async function isDrained({ db }: PostgresContext, version: string | undefined): Promise<boolean> {
  const sql = `
    SELECT 1 FROM fairlead.runs AS run
    WHERE status IN ('queued', 'running') AND ($1::text IS NULL OR version IS NULL OR version = $1)
      AND NOT (status = 'queued' AND coalesce(later, 0) > fairlead.now_ms())
      AND NOT (status = 'queued' AND slot IS NULL AND EXISTS (
        SELECT 1 FROM fairlead.runs AS other WHERE other.slot = run.session AND (other.status = '${storedWaitingStatus}' OR other.version <> $1)
      ))
    LIMIT 1`;
  return (await db.one(sql, [version ?? null])) === undefined;
}
