// Hands runs out: the most urgent first, to one worker each, within the limits, and none while the kill-switch is on.
import {
  errorMessage,
  type FleetRun,
  type QueueLimits,
  type RunSettlement,
  type WorkOptions,
} from '../../core/index.ts';
import {
  damagedRowOutcome,
  computeRetryDelayMs,
  workerLostReason,
  runRowError,
  tooManyFailuresOutcome,
  maxFailures,
  toFleetRun,
  type RunRow,
} from '../run-row.ts';
import type { SqliteContext } from './context.ts';
import { readSqliteKillSwitch } from './kill-switch.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { endRun, requeueRun } from './runs.ts';

/** A run that was handed to this process: under which name, and as which of its attempts. */
export type RunClaim = {
  readonly run: FleetRun;
  readonly key: number;
  readonly holder: string;
  readonly attempt: number;
};

/** The limits that are set. */
export function readSqliteQueueLimits(base: SqliteContext): QueueLimits {
  const row = base.one<{ value: string }>("SELECT value FROM control WHERE name = 'limits'");
  return row ? (JSON.parse(row.value) as QueueLimits) : {};
}

/** The most urgent run that a worker may take now. Of a session, only one run is under way: whatever has begun there and has not ended keeps the others waiting. */
const nextRunSql = `
SELECT * FROM runs AS run INDEXED BY runs_queued
WHERE status = 'queued' AND due <= ?1 AND (?2 IS NULL OR version IS NULL OR version = ?2)
  AND tenant NOT IN (SELECT value FROM json_each(?3))
  AND NOT EXISTS (
    SELECT 1 FROM runs AS other INDEXED BY runs_open
    WHERE other.session = run.session AND other.status <> 'ended' AND other.started IS NOT NULL AND other.key <> run.key
  )
ORDER BY priority DESC, key LIMIT 1`;

/** The run that would be handed out now, if any. */
export function findNextRun(base: SqliteContext, version: string | undefined): RunRow | undefined {
  const limits = readSqliteQueueLimits(base);
  const running = base.all<{ tenant: string; count: number }>(
    "SELECT tenant, count(*) AS count FROM runs WHERE status = 'running' GROUP BY tenant",
  );
  const { concurrency = Infinity, tenantConcurrency = Infinity, rate } = limits;
  if (running.reduce((sum, { count }) => sum + count, 0) >= concurrency) return undefined;
  if (rate && countStartedSince(base, Date.now() - rate.ms) >= rate.runs) return undefined;
  const full = running.filter(({ count }) => count >= tenantConcurrency).map(({ tenant }) => tenant);
  if (readSqliteKillSwitch(base).stopped) return undefined;
  return base.one<RunRow>(nextRunSql, Date.now(), version ?? null, JSON.stringify(full));
}

const countStartedSince = (base: SqliteContext, time: number): number =>
  base.one<{ count: number }>('SELECT count(*) AS count FROM runs WHERE taken > ?', time)?.count ?? 0;

/** Takes up to so many runs for a worker. Not synced: whatever a worker settles later takes this along, and if it settles nothing, the run is simply taken again. */
export const claimSqliteRuns = (
  base: SqliteContext,
  presence: SqliteProcessLease,
  work: WorkOptions,
  most: number,
): Promise<readonly RunClaim[]> =>
  base.write(() => claimRunRows(base, presence.token(), work, most), { settle: false });

function claimRunRows(base: SqliteContext, holder: string, work: WorkOptions, most: number): readonly RunClaim[] {
  const claims: RunClaim[] = [];
  while (claims.length < most) {
    const row = findNextRun(base, work.version);
    if (!row) break;
    const flaw = runRowError(row);
    if (flaw !== undefined) endRun(base, row, damagedRowOutcome(flaw));
    else claims.push(claimRunRow(base, row, work, holder));
  }
  return claims;
}

function claimRunRow(base: SqliteContext, { key }: RunRow, work: WorkOptions, holder: string): RunClaim {
  const row = base.one<RunRow>(
    `UPDATE runs SET status = 'running', attempts = attempts + 1, woken = 0, taken = ?1, started = coalesce(started, ?1),
       worker = ?2, holder = ?3, version = coalesce(version, ?4), questions = NULL
     WHERE key = ?5 RETURNING *`,
    Date.now(),
    work.worker,
    holder,
    work.version ?? null,
    key,
  ) as RunRow;
  base.notify('queue');
  return { run: toFleetRun(row), key, holder, attempt: row.attempts };
}

/** Within a change: the row of a claim, while it is this worker's. */
const findClaimedRow = (base: SqliteContext, { key, holder, attempt }: RunClaim): RunRow | undefined =>
  base.one<RunRow>(
    "SELECT * FROM runs WHERE key = ? AND status = 'running' AND holder = ? AND attempts = ?",
    key,
    holder,
    attempt,
  );

/** Whether words wait for a session: what was read is cleared. */
const hasUnreadMessages = (base: SqliteContext, session: string): boolean => {
  const sql =
    "SELECT 1 FROM letters WHERE session = ? AND CASE WHEN json_valid(letter) THEN json_extract(letter, '$.type') END IN ('prompt', 'steer', 'follow-up')";
  return base.one(sql, session) !== undefined;
};

/** Writes down what came of a run; nothing where it is no longer this worker's. */
export const completeRun = (base: SqliteContext, claim: RunClaim, settlement: RunSettlement): Promise<void> =>
  base.write(() => {
    const row = findClaimedRow(base, claim);
    if (!row) return;
    if (settlement.type === 'ended' && !(row.woken === 1 && hasUnreadMessages(base, row.session)))
      return endRun(base, row, settlement.outcome);
    base.run('UPDATE runs SET failures = 0 WHERE key = ?', row.key);
    if (settlement.type !== 'resting' || row.woken === 1) return requeueRun(base, row.key, Date.now());
    base.run(
      "UPDATE runs SET status = 'resting', holder = NULL, questions = ? WHERE key = ?",
      JSON.stringify(settlement.questions),
      row.key,
    );
    base.notify('queue');
  });

/** Puts a run back that could not be worked on, each time for longer, and ends it once it has failed too often. */
export const failRun = (base: SqliteContext, claim: RunClaim, thrown: unknown, retryMs: number): Promise<void> =>
  base.write(() => {
    const row = findClaimedRow(base, claim);
    if (!row) return;
    retryOrEndRun(base, row, Date.now() + computeRetryDelayMs(row.failures, retryMs), errorMessage(thrown));
  });

/** Within a change: what a worker that is gone was working on goes back at once. */
export function requeueRunsOfHolder(base: SqliteContext, holder: string): void {
  const rows = base.all<RunRow>("SELECT * FROM runs WHERE status = 'running' AND holder = ?", holder);
  for (const row of rows) retryOrEndRun(base, row, Date.now(), workerLostReason);
}

function retryOrEndRun(base: SqliteContext, row: RunRow, due: number, why: string): void {
  const failures = row.failures + 1;
  if (failures >= maxFailures) return endRun(base, row, tooManyFailuresOutcome(failures, why));
  base.run('UPDATE runs SET failures = ? WHERE key = ?', failures, row.key);
  requeueRun(base, row.key, due);
}
