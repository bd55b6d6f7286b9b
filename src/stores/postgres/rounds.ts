// What a worker does beside its runs every now and then: the dead, the schedules, what has fallen due, what DBOS has left lying.
import type { QueueLimits } from '../../core/index.ts';
import type { Base } from './base.ts';
import { heldBy, unclaim } from './claim.ts';
import type { Presence } from './presence.ts';
import { fireDue } from './schedules.ts';

/** The rounds of a worker. */
export type Rounds = {
  /** Does what it is time for. */
  walk(): Promise<void>;
  /** Milliseconds until there is something to do, or a limit on the rate may let a run through. */
  untilNext(): number;
  /** Something falls due in so many milliseconds. */
  expect(ms: number): void;
  /** Whether the fleet goes on, and within which limits; not older than a moment. */
  look(): Promise<{ readonly going: boolean; readonly limits: QueueLimits }>;
};

const roundMs = 1000;
const clearMs = 5000;
const freshMs = 200;
/** So many queued runs are looked at in one go. */
const mostLooked = 2000;
/** Milliseconds that DBOS's rows of ended workflows are kept: a limit on the rate counts them. */
const keepMs = 10_000;

const dueSql = `
SELECT fairlead.admit(NULL) AS admitted,
  (SELECT min(due) - fairlead.now_ms() FROM fairlead.runs
   WHERE status = 'queued' AND NOT dispatched AND due > fairlead.now_ms()) AS wait`;

const lookSql = `
SELECT (SELECT value FROM fairlead.control WHERE name = 'limits') AS limits,
  EXISTS (SELECT 1 FROM fairlead.control WHERE name = 'standing' AND value ~ '^[{]"stopped":false[,}]') AS going`;

const clearSql = `
WITH old AS (
  DELETE FROM fairlead_dbos.workflow_status USING set_config('synchronous_commit', 'off', true) WHERE workflow_uuid IN (
    SELECT workflow_uuid FROM fairlead_dbos.workflow_status
    WHERE status NOT IN ('ENQUEUED', 'PENDING') AND completed_at < fairlead.now_ms() - $1::bigint LIMIT 5000)
  RETURNING workflow_uuid
), inputs AS (DELETE FROM fairlead_dbos.workflow_input USING old WHERE workflow_input.workflow_uuid = old.workflow_uuid)
DELETE FROM fairlead_dbos.workflow_output USING old WHERE workflow_output.workflow_uuid = old.workflow_uuid`;

/**
 * A run that is queued and has no workflow was lost between us and DBOS. Looked for by the workflow's id and by nothing else: by its state, each run would be
 * held against all that wait. Some runs at a time: gives the last that was looked at, where there may be more.
 */
const lostSql = `
WITH few AS MATERIALIZED (
  SELECT key, id || '#' || segment AS workflow FROM fairlead.runs
  WHERE status = 'queued' AND dispatched AND key > $1 ORDER BY key LIMIT ${mostLooked}
), missing AS MATERIALIZED (
  SELECT key FROM few LEFT JOIN LATERAL (
    SELECT status FROM fairlead_dbos.workflow_status WHERE workflow_uuid = few.workflow OFFSET 0
  ) AS known ON true
  WHERE known.status IS NULL OR known.status NOT IN ('ENQUEUED', 'PENDING')
), lost AS (
  SELECT array_agg(key) AS keys FROM (
    SELECT key FROM fairlead.runs WHERE key = ANY (ARRAY(SELECT key FROM missing)) AND status = 'queued' AND dispatched
    FOR UPDATE SKIP LOCKED) AS each
)
SELECT fairlead.dispatch(keys), (SELECT CASE WHEN count(*) = ${mostLooked} THEN max(key) END FROM few) AS last FROM lost`;

/** Rounds; `isOwnedByUser` says whether a workflow is being worked on. */
export function newRounds(base: Base, presence: Presence, isOurs: (workflow: string) => boolean): Rounds {
  const { db } = base;
  let next = -Infinity;
  let clear = performance.now() + clearMs * Math.random();
  let seen = -Infinity;
  let limits: QueueLimits = {};
  let going = false;
  let looked = 0;
  let strays: ReadonlySet<string> = new Set();

  /** What DBOS gave us twice in a row and nobody here works on came with an answer that was lost. */
  async function giveBack(): Promise<void> {
    const holder = await presence.token();
    const idle = (await heldBy(base, holder)).filter((workflow) => !isOurs(workflow));
    const twice = idle.filter((workflow) => strays.has(workflow));
    strays = new Set(idle);
    if (twice.length > 0) await unclaim(base, holder, twice);
  }

  async function tidy(): Promise<void> {
    clear = performance.now() + clearMs * (0.5 + Math.random());
    await giveBack();
    await db.all(clearSql, [Math.max(keepMs, (limits.rate?.ms ?? 0) * 2)]);
    looked = (await db.one<{ last: number | null }>(lostSql, [looked]))?.last ?? 0;
  }

  return {
    async walk() {
      const now = performance.now();
      if (now < next) return;
      next = now + roundMs;
      await presence.buryGone();
      await fireDue(base);
      const row = await db.one<{ admitted: number; wait: number | null }>(dueSql);
      next = now + Math.min(roundMs, Math.max(1, row?.wait ?? roundMs));
      if (now >= clear) await tidy();
    },
    untilNext() {
      const pace = limits.rate ? Math.max(10, limits.rate.ms / limits.rate.runs) : Infinity;
      return Math.max(1, Math.min(pace, next - performance.now()));
    },
    expect(ms) {
      if (ms > 0) next = Math.min(next, performance.now() + ms);
    },
    async look() {
      if (performance.now() - seen > freshMs) {
        const row = await db.one<{ limits: string | null; going: boolean }>(lookSql, [], { patienceMs: 1000 });
        limits = JSON.parse(row?.limits ?? '{}') as QueueLimits;
        going = row?.going === true;
        seen = performance.now();
      }
      return { going, limits };
    },
  };
}
