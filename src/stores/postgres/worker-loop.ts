// A worker's round: take what may be taken, work on it, write down what came of it, look after what the dead left.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type WorkOptions } from '../../core/index.ts';
import type { PostgresContext } from './context.ts';
import { settlesWithin, closeTimeoutMs, undefinedOnAbort } from './timeouts.ts';
import { claimPostgresRuns } from './claim.ts';
import type { DbosEngine } from './engine.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import { createMaintenance } from './maintenance.ts';
import { createRunCompleter, type RunClaim, type RunCompleter } from './complete-runs.ts';
import { isUnreachable, isSerializationConflict, toPostgresError } from './errors.ts';

/** What a store has for those who work on its queue. */
export type WorkerResources = { readonly retryMs: number; engine(): Promise<DbosEngine> };

/** Milliseconds between two looks into the queue: while there is much to do, and while there is nothing. */
const minPollMs = 5;
const maxPollMs = 1000;
/** A server that comes or goes says many things; one that says what we do not know so often in a row does not get better. */
const maxUnknownErrors = 10;
/** A workflow that DBOS has not begun after so long will not be. */
const startTimeoutMs = 10_000;

/** Works on runs until told to stop. */
export async function runPostgresWorkerLoop(
  base: PostgresContext,
  presence: PostgresProcessLease,
  desk: WorkerResources,
  work: WorkOptions,
): Promise<void> {
  const launched = await undefinedOnAbort(work.signal, desk.engine());
  if (!launched) return;
  const engine: DbosEngine = launched;
  const under = new Map<string, Promise<void>>();
  /** Those of them that DBOS has not begun, each by how it is left. */
  const waiting = new Map<string, () => Promise<void>>();
  let over = false;
  const bell = base.addWaiter('queue');
  const settling = createRunCompleter(base);
  let troubles = 0;
  const rounds = createMaintenance(base, presence, (workflow) => under.has(workflow));

  function begin(workflow: string, claim: RunClaim): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    under.set(workflow, promise);
    const done = (): void => {
      under.delete(workflow);
      resolve();
      base.notify('queue');
    };
    const late = setTimeout(() => void leave(), startTimeoutMs);
    const leave = async (): Promise<void> => {
      clearTimeout(late);
      waiting.delete(workflow);
      // Where it cannot be written, the run is found with those whose worker is silent.
      await settlesWithin(closeTimeoutMs, settling.complete(claim, { type: 'left' }));
      done();
    };
    waiting.set(workflow, leave);
    return async () => {
      clearTimeout(late);
      if (!waiting.delete(workflow)) return;
      try {
        const waits = await handleRun({ base, presence, settling, retryMs: desk.retryMs }, work, claim);
        rounds.scheduleIn(waits);
      } finally {
        done();
      }
    };
  }

  /** Takes what there is room for, and says how many. */
  async function takeSome(): Promise<number> {
    const most = work.concurrency - under.size;
    const { going, limits } = await rounds.readQueueState();
    if (most <= 0 || !going || work.signal.aborted) return 0;
    const holder = await presence.token();
    const { claims, claimToken } = await claimPostgresRuns({ base, engine, settling }, work, {
      holder,
      most,
      limits,
    });
    const bodies = new Map([...claims].map(([workflow, each]) => [workflow, begin(workflow, each)]));
    if (over) await leaveAll();
    else if (claims.size > 0) await engine.run({ workflows: [...claims.keys()], claimToken }, bodies, work.signal);
    return claims.size;
  }

  const leaveAll = (): Promise<unknown> => Promise.all([...waiting.values()].map((leave) => leave()));

  async function look(): Promise<'drained' | 'busy' | 'idle'> {
    try {
      await rounds.runDue();
      if ((await takeSome()) > 0) return 'busy';
      return work.drain && under.size === 0 && (await isDrained(base, work.version)) ? 'drained' : 'idle';
    } catch (error) {
      // What is under way goes on by itself; the queue is looked at again when the database is back.
      troubles = isTransientError(error) ? 0 : troubles + 1;
      if (troubles >= maxUnknownErrors || base.db.isClosed) throw toPostgresError(error, base.db.description);
      return 'idle';
    }
  }

  try {
    for (let wait = minPollMs; !work.signal.aborted;) {
      const looking = look();
      const found = await undefinedOnAbort(work.signal, looking);
      // A database that answers no more keeps nobody who is told to end.
      if (found === undefined) await settlesWithin(closeTimeoutMs, looking);
      if (found === 'busy') troubles = 0;
      if (found === 'drained') return;
      wait = found === 'busy' ? minPollMs : Math.min(maxPollMs, wait * 2);
      const ms = Math.min(wait, rounds.msUntilNext());
      if (await bell.wait({ signal: work.signal, ms })) wait = minPollMs;
      // Several that end at the same time are followed by others in one go.
      await sleep(minPollMs);
    }
  } finally {
    over = true;
    await leaveAll();
    await Promise.all(under.values());
    bell.remove();
  }
}

const isTransientError = (error: unknown): boolean =>
  isUnreachable(error) ||
  isSerializationConflict(error) ||
  (error instanceof FairleadError && error.code === 'store/unreachable');

/**
 * Nothing that this worker could take by now, and nothing under way that might come back. What is to begin later, or waits for a run that
 * rests or that another version began, is not waited for.
 */
async function isDrained({ db }: PostgresContext, version: string | undefined): Promise<boolean> {
  const sql = `
    SELECT 1 FROM fairlead.runs AS run
    WHERE status IN ('queued', 'running') AND ($1::text IS NULL OR version IS NULL OR version = $1)
      AND NOT (status = 'queued' AND coalesce(later, 0) > fairlead.now_ms())
      AND NOT (status = 'queued' AND slot IS NULL AND EXISTS (
        SELECT 1 FROM fairlead.runs AS other WHERE other.slot = run.session AND (other.status = 'resting' OR other.version <> $1)
      ))
    LIMIT 1`;
  return (await db.one(sql, [version ?? null])) === undefined;
}

/** What one run is worked on with. */
type RunHandlingContext = {
  readonly base: PostgresContext;
  readonly presence: PostgresProcessLease;
  readonly settling: RunCompleter;
  readonly retryMs: number;
};

/** Works on a run; gives how long it waits before it is tried again, if it is. */
async function handleRun(
  { base, presence, settling, retryMs }: RunHandlingContext,
  work: WorkOptions,
  claim: RunClaim,
): Promise<number> {
  const control = new AbortController();
  const forget = presence.onLost(claim.holder, () => control.abort(runLostError(claim.run.id)));
  try {
    const write = await work.handle(claim.run, control.signal).then(
      (settlement) => () => settling.complete(claim, settlement).then(() => 0),
      (error: unknown) => () => settling.fail(claim, error, retryMs),
    );
    return await writeWithRetry(base, control.signal, write);
  } finally {
    forget();
  }
}

/** What came of a run must be written: a database that is out of reach is tried again until the run is not ours any more. */
async function writeWithRetry(
  base: PostgresContext,
  signal: AbortSignal,
  write: () => Promise<number>,
): Promise<number> {
  for (let wait = 100; !signal.aborted && !base.db.isClosed; wait = Math.min(5000, wait * 2)) {
    try {
      return (await undefinedOnAbort(signal, write())) ?? 0;
    } catch {
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
  return 0;
}

const runLostError = (run: string): FairleadError =>
  new FairleadError('run/left', `Run ${run} is no longer this worker's.`, { blame: 'store' });
