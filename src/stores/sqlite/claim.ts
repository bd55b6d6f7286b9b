// Hands runs out: the most urgent first, to one worker each, within the limits, and none while the kill-switch is on.
import {
  errorMessage,
  type FleetRun,
  type QueueLimits,
  type RunSettlement,
  type WorkOptions,
} from '../../core/index.ts';
import { damagedRun, delayAfter, diedWords, flawIn, givenUp, mostFailures, runOf, type RunRow } from '../run-row.ts';
import type { Base } from './base.ts';
import { readStanding } from './kill-switch.ts';
import type { Presence } from './presence.ts';
import { endRun, requeue } from './runs.ts';

/** A run that was handed to this process: under which name, and as which of its attempts. */
export type Claim = { readonly run: FleetRun; readonly key: number; readonly holder: string; readonly attempt: number };

/** The limits that are set. */
export function readLimits(base: Base): QueueLimits {
  const row = base.one<{ value: string }>("SELECT value FROM control WHERE name = 'limits'");
  return row ? (JSON.parse(row.value) as QueueLimits) : {};
}

/** The most urgent run that a worker may take now. Of a session, only one run is under way: whatever has begun there and has not ended keeps the others waiting. */
const nextSql = `
SELECT * FROM runs AS run INDEXED BY runs_queued
WHERE status = 'queued' AND due <= ?1 AND (?2 IS NULL OR version IS NULL OR version = ?2)
  AND tenant NOT IN (SELECT value FROM json_each(?3))
  AND NOT EXISTS (
    SELECT 1 FROM runs AS other INDEXED BY runs_open
    WHERE other.session = run.session AND other.status <> 'ended' AND other.started IS NOT NULL AND other.key <> run.key
  )
ORDER BY priority DESC, key LIMIT 1`;

/** The run that would be handed out now, if any. */
export function nextRun(base: Base, version: string | undefined): RunRow | undefined {
  const limits = readLimits(base);
  const running = base.all<{ tenant: string; count: number }>(
    "SELECT tenant, count(*) AS count FROM runs WHERE status = 'running' GROUP BY tenant",
  );
  const { concurrency = Infinity, tenantConcurrency = Infinity, rate } = limits;
  if (running.reduce((sum, { count }) => sum + count, 0) >= concurrency) return undefined;
  if (rate && begunSince(base, Date.now() - rate.ms) >= rate.runs) return undefined;
  const full = running.filter(({ count }) => count >= tenantConcurrency).map(({ tenant }) => tenant);
  if (readStanding(base).stopped) return undefined;
  return base.one<RunRow>(nextSql, Date.now(), version ?? null, JSON.stringify(full));
}

const begunSince = (base: Base, time: number): number =>
  base.one<{ count: number }>('SELECT count(*) AS count FROM runs WHERE taken > ?', time)?.count ?? 0;

/** Takes up to so many runs for a worker. Not synced: whatever a worker settles later takes this along, and if it settles nothing, the run is simply taken again. */
export const claim = (base: Base, presence: Presence, work: WorkOptions, most: number): Promise<readonly Claim[]> =>
  base.write(() => takeRuns(base, presence.token(), work, most), { settle: false });

function takeRuns(base: Base, holder: string, work: WorkOptions, most: number): readonly Claim[] {
  const claims: Claim[] = [];
  while (claims.length < most) {
    const row = nextRun(base, work.version);
    if (!row) break;
    const flaw = flawIn(row);
    if (flaw !== undefined) endRun(base, row, damagedRun(flaw));
    else claims.push(takeRun(base, row, work, holder));
  }
  return claims;
}

function takeRun(base: Base, { key }: RunRow, work: WorkOptions, holder: string): Claim {
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
  base.touch('queue');
  return { run: runOf(row), key, holder, attempt: row.attempts };
}

/** Within a change: the row of a claim, while it is this worker's. */
const claimed = (base: Base, { key, holder, attempt }: Claim): RunRow | undefined =>
  base.one<RunRow>(
    "SELECT * FROM runs WHERE key = ? AND status = 'running' AND holder = ? AND attempts = ?",
    key,
    holder,
    attempt,
  );

/** Whether words wait for a session: what was read is cleared. */
const hasUnread = (base: Base, session: string): boolean => {
  const sql =
    "SELECT 1 FROM letters WHERE session = ? AND CASE WHEN json_valid(letter) THEN json_extract(letter, '$.type') END IN ('prompt', 'steer', 'follow-up')";
  return base.one(sql, session) !== undefined;
};

/** Writes down what came of a run; nothing where it is no longer this worker's. */
export const settle = (base: Base, claim: Claim, settlement: RunSettlement): Promise<void> =>
  base.write(() => {
    const row = claimed(base, claim);
    if (!row) return;
    if (settlement.type === 'ended' && !(row.woken === 1 && hasUnread(base, row.session)))
      return endRun(base, row, settlement.outcome);
    base.run('UPDATE runs SET failures = 0 WHERE key = ?', row.key);
    if (settlement.type !== 'resting' || row.woken === 1) return requeue(base, row.key, Date.now());
    base.run(
      "UPDATE runs SET status = 'resting', holder = NULL, questions = ? WHERE key = ?",
      JSON.stringify(settlement.questions),
      row.key,
    );
    base.touch('queue');
  });

/** Puts a run back that could not be worked on, each time for longer, and ends it once it has failed too often. */
export const fail = (base: Base, claim: Claim, thrown: unknown, retryMs: number): Promise<void> =>
  base.write(() => {
    const row = claimed(base, claim);
    if (!row) return;
    putBack(base, row, Date.now() + delayAfter(row.failures, retryMs), errorMessage(thrown));
  });

/** Within a change: what a worker that is gone was working on goes back at once. */
export function buryRuns(base: Base, holder: string): void {
  const rows = base.all<RunRow>("SELECT * FROM runs WHERE status = 'running' AND holder = ?", holder);
  for (const row of rows) putBack(base, row, Date.now(), diedWords);
}

function putBack(base: Base, row: RunRow, due: number, why: string): void {
  const failures = row.failures + 1;
  if (failures >= mostFailures) return endRun(base, row, givenUp(failures, why));
  base.run('UPDATE runs SET failures = ? WHERE key = ?', failures, row.key);
  requeue(base, row.key, due);
}
