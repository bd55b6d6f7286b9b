// What a worker does beside its runs every now and then: the dead, the schedules, what has fallen due, what DBOS has left lying.
import type { QueueLimits } from '../../core/index.ts';
import type { PostgresContext } from './context.ts';
import { listHeldWorkflows, releaseWorkflows } from './claim.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import { enqueueDuePostgresSchedules } from './schedules.ts';

/** The rounds of a worker. */
export type Maintenance = {
  /** Does what it is time for. */
  runDue(): Promise<void>;
  /** Milliseconds until there is something to do, or a limit on the rate may let a run through. */
  msUntilNext(): number;
  /** Something falls due in so many milliseconds. */
  scheduleIn(ms: number): void;
  /** Whether the fleet goes on, and within which limits; not older than a moment. */
  readQueueState(): Promise<{ readonly going: boolean; readonly limits: QueueLimits }>;
};

const maintenanceIntervalMs = 1000;
const cleanupIntervalMs = 5000;
const stateCacheMs = 200;
/** So many queued runs are looked at in one go. */
const maxRunsChecked = 2000;
/** Milliseconds that DBOS's rows of ended workflows are kept: a limit on the rate counts them. */
const workflowRetentionMs = 10_000;

const admitDueSql = `
SELECT fairlead.admit(NULL) AS admitted,
  (SELECT min(due) - fairlead.now_ms() FROM fairlead.runs
   WHERE status = 'queued' AND NOT dispatched AND due > fairlead.now_ms()) AS wait`;

const queueStateSql = `
SELECT (SELECT value FROM fairlead.control WHERE name = 'limits') AS limits,
  EXISTS (SELECT 1 FROM fairlead.control WHERE name = 'standing' AND value ~ '^[{]"stopped":false[,}]') AS going`;

const deleteEndedWorkflowsSql = `
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
const redispatchLostSql = `
WITH few AS MATERIALIZED (
  SELECT key, id || '#' || segment AS workflow FROM fairlead.runs
  WHERE status = 'queued' AND dispatched AND key > $1 ORDER BY key LIMIT ${maxRunsChecked}
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
SELECT fairlead.dispatch(keys), (SELECT CASE WHEN count(*) = ${maxRunsChecked} THEN max(key) END FROM few) AS last FROM lost`;

/** Rounds; `isOwnedByUser` says whether a workflow is being worked on. */
export function createMaintenance(
  base: PostgresContext,
  presence: PostgresProcessLease,
  isOurs: (workflow: string) => boolean,
): Maintenance {
  const { db } = base;
  let next = -Infinity;
  let clear = performance.now() + cleanupIntervalMs * Math.random();
  let seen = -Infinity;
  let limits: QueueLimits = {};
  let going = false;
  let looked = 0;
  let strays: ReadonlySet<string> = new Set();

  /** What DBOS gave us twice in a row and nobody here works on came with an answer that was lost. */
  async function giveBack(): Promise<void> {
    const holder = await presence.token();
    const idle = (await listHeldWorkflows(base, holder)).filter((workflow) => !isOurs(workflow));
    const twice = idle.filter((workflow) => strays.has(workflow));
    strays = new Set(idle);
    if (twice.length > 0) await releaseWorkflows(base, holder, twice);
  }

  async function tidy(): Promise<void> {
    clear = performance.now() + cleanupIntervalMs * (0.5 + Math.random());
    await giveBack();
    await db.all(deleteEndedWorkflowsSql, [Math.max(workflowRetentionMs, (limits.rate?.ms ?? 0) * 2)]);
    looked = (await db.one<{ last: number | null }>(redispatchLostSql, [looked]))?.last ?? 0;
  }

  return {
    async runDue() {
      const now = performance.now();
      if (now < next) return;
      next = now + maintenanceIntervalMs;
      await presence.reapExpired();
      await enqueueDuePostgresSchedules(base);
      const row = await db.one<{ admitted: number; wait: number | null }>(admitDueSql);
      next = now + Math.min(maintenanceIntervalMs, Math.max(1, row?.wait ?? maintenanceIntervalMs));
      if (now >= clear) await tidy();
    },
    msUntilNext() {
      const pace = limits.rate ? Math.max(10, limits.rate.ms / limits.rate.runs) : Infinity;
      return Math.max(1, Math.min(pace, next - performance.now()));
    },
    scheduleIn(ms) {
      if (ms > 0) next = Math.min(next, performance.now() + ms);
    },
    async readQueueState() {
      if (performance.now() - seen > stateCacheMs) {
        const row = await db.one<{ limits: string | null; going: boolean }>(queueStateSql, [], { retryForMs: 1000 });
        limits = JSON.parse(row?.limits ?? '{}') as QueueLimits;
        going = row?.going === true;
        seen = performance.now();
      }
      return { going, limits };
    },
  };
}
