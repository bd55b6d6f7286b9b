// Claims runs in SQLite: highest priority first, each by one worker, within the limits, and none while the kill switch is on.
import { errorMessage, type RunSettlement, type WorkOptions } from '../../core/index.ts';
import type { RunClaim } from '../run-and-write-result.ts';
import {
  damagedRowOutcome,
  computeRetryDelayMs,
  workerLostOutcome,
  runRowError,
  storedWaitingStatus,
  tooManyFailuresOutcome,
  maxFailures,
  toFleetRun,
  toRestTime,
  type RunRow,
} from '../run-row.ts';
import type { SqliteContext } from './context.ts';
import { isStopped, readSqliteQueueLimits } from './fleet-control.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { endRun, requeueRun } from './runs.ts';

/** The first run that a worker may claim now. A session has one run at a time: a started run that has not ended blocks the other runs of its session. */
const nextRunSql = `
SELECT * FROM runs AS run INDEXED BY runs_queued
WHERE status = 'queued' AND due <= ?1 AND (?2 IS NULL OR version IS NULL OR version = ?2)
  AND tenant NOT IN (SELECT value FROM json_each(?3))
  AND NOT EXISTS (
    SELECT 1 FROM runs AS other INDEXED BY runs_open
    WHERE other.session = run.session AND other.status <> 'ended' AND other.started IS NOT NULL AND other.key <> run.key
  )
ORDER BY priority DESC, key LIMIT 1`;

/** The run that would be claimed now, if any. */
export function findNextRun(context: SqliteContext, version: string | undefined): RunRow | undefined {
  const limits = readSqliteQueueLimits(context);
  const running = context.all<{ tenant: string; count: number }>(
    "SELECT tenant, count(*) AS count FROM runs WHERE status = 'running' GROUP BY tenant",
  );
  const { concurrency = Infinity, tenantConcurrency = Infinity, rate } = limits;
  if (running.reduce((sum, { count }) => sum + count, 0) >= concurrency) return undefined;
  if (rate && countStartedSince(context, Date.now() - rate.ms) >= rate.runs) return undefined;
  const fullTenants = running.filter(({ count }) => count >= tenantConcurrency).map(({ tenant }) => tenant);
  if (isStopped(context)) return undefined;
  return context.one<RunRow>(nextRunSql, Date.now(), version ?? null, JSON.stringify(fullTenants));
}

const countStartedSince = (context: SqliteContext, time: number): number =>
  context.one<{ count: number }>('SELECT count(*) AS count FROM runs WHERE taken > ?', time)?.count ?? 0;

/** Claims runs for a worker. Not durable: a later durable write includes the claim, and without one the run is claimed again. */
export const claimSqliteRuns = (
  context: SqliteContext,
  lease: SqliteProcessLease,
  work: WorkOptions,
  maxRuns: number,
): Promise<readonly RunClaim[]> =>
  context.write(() => claimRunRows(context, lease.token(), work, maxRuns), { durable: false });

function claimRunRows(context: SqliteContext, holder: string, work: WorkOptions, maxRuns: number): readonly RunClaim[] {
  const claims: RunClaim[] = [];
  while (claims.length < maxRuns) {
    const row = findNextRun(context, work.version);
    if (!row) break;
    const problem = runRowError(row);
    if (problem !== undefined) endRun(context, row, damagedRowOutcome(problem));
    else claims.push(claimRunRow(context, row, work, holder));
  }
  return claims;
}

function claimRunRow(context: SqliteContext, { key }: RunRow, work: WorkOptions, holder: string): RunClaim {
  const row = context.one<RunRow>(
    `UPDATE runs SET status = 'running', attempts = attempts + 1, woken = 0, taken = ?1, started = coalesce(started, ?1),
       worker = ?2, holder = ?3, version = coalesce(version, ?4), questions = NULL
     WHERE key = ?5 RETURNING *`,
    Date.now(),
    work.worker,
    holder,
    work.version ?? null,
    key,
  ) as RunRow;
  context.notify('queue');
  return { run: toFleetRun(row), key, holder, attempt: row.attempts };
}

/** Within a write: the row of a claim, if this worker still holds it. */
const findClaimedRow = (context: SqliteContext, { key, holder, attempt }: RunClaim): RunRow | undefined =>
  context.one<RunRow>(
    "SELECT * FROM runs WHERE key = ? AND status = 'running' AND holder = ? AND attempts = ?",
    key,
    holder,
    attempt,
  );

/** Whether a session has messages for the model that no run has read. */
const hasUnreadMessages = (context: SqliteContext, session: string): boolean => {
  const sql =
    "SELECT 1 FROM letters WHERE session = ? AND CASE WHEN json_valid(letter) THEN json_extract(letter, '$.type') END IN ('prompt', 'steer', 'follow-up')";
  return context.one(sql, session) !== undefined;
};

/** Writes the result of a run; nothing if another worker has taken it over. */
export const completeRun = (context: SqliteContext, claim: RunClaim, settlement: RunSettlement): Promise<void> =>
  context.write(() => {
    const row = findClaimedRow(context, claim);
    if (!row) return;
    if (settlement.type === 'completed' && !(row.woken === 1 && hasUnreadMessages(context, row.session)))
      return endRun(context, row, settlement.outcome);
    context.run('UPDATE runs SET failures = 0, losses = 0 WHERE key = ?', row.key);
    if (settlement.type === 'released' && settlement.notBefore !== undefined && row.woken !== 1)
      context.run('UPDATE runs SET later = ? WHERE key = ?', toRestTime(settlement.notBefore), row.key);
    if (settlement.type !== 'waiting' || row.woken === 1) return requeueRun(context, row.key, Date.now());
    context.run(
      `UPDATE runs SET status = '${storedWaitingStatus}', holder = NULL, questions = ? WHERE key = ?`,
      JSON.stringify(settlement.pendingApprovals),
      row.key,
    );
    context.notify('queue');
  });

/** Queues a failed run again, with a delay that grows, or ends it after too many failures. Returns the delay; 0 if it ended or is not ours. */
export const failRun = (context: SqliteContext, claim: RunClaim, thrown: unknown, retryMs: number): Promise<number> =>
  context.write(() => {
    const row = findClaimedRow(context, claim);
    if (!row) return 0;
    const failures = row.failures + 1;
    if (failures >= maxFailures) {
      endRun(context, row, tooManyFailuresOutcome(failures, errorMessage(thrown)));
      return 0;
    }
    const delayMs = computeRetryDelayMs(row.failures, retryMs);
    context.run('UPDATE runs SET failures = ?, losses = 0 WHERE key = ?', failures, row.key);
    requeueRun(context, row.key, Date.now() + delayMs);
    return delayMs;
  });

/** Within a write: queues the runs of a lost worker again, without a delay, or ends those that lost too many workers. */
export function requeueRunsOfHolder(context: SqliteContext, holder: string, maxWorkerLosses: number): void {
  const rows = context.all<RunRow>("SELECT * FROM runs WHERE status = 'running' AND holder = ?", holder);
  for (const row of rows) {
    const losses = row.losses + 1;
    if (losses >= maxWorkerLosses) endRun(context, row, workerLostOutcome(losses));
    else {
      context.run('UPDATE runs SET losses = ? WHERE key = ?', losses, row.key);
      requeueRun(context, row.key, Date.now());
    }
  }
}
