// Periodic work of a worker: expired leases, due schedules and runs, and workflows of DBOS that have ended, or that no worker handles.
import type { QueueLimits } from '../../core/index.ts';
import { killSwitchRowName } from '../kill-switch.ts';
import { parseQueueLimits, rateDelayMs } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import { listHeldWorkflows, releaseWorkflows } from './claim.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import type { EnqueueRuns } from './runs.ts';
import { enqueueDuePostgresSchedules } from './schedules.ts';

/** The periodic work of a worker. */
export type Maintenance = {
  /** Does the work that is due. */
  runDue(): Promise<void>;
  /** Milliseconds until work is due, or until the rate limit may admit a run. */
  msUntilNext(): number;
  /** A run is due in so many milliseconds. */
  scheduleIn(ms: number): void;
  /** Whether the kill switch is off, and the limits of the queue. Cached for a moment. */
  readQueueState(): Promise<{ readonly isActive: boolean; readonly limits: QueueLimits }>;
};

const maintenanceIntervalMs = 1000;
const cleanupIntervalMs = 5000;
const stateCacheMs = 200;
/** How many queued runs one statement checks. */
const maxRunsChecked = 2000;
/** How long the rows of ended workflows are kept, in milliseconds: DBOS counts them for the rate limit. */
const workflowRetentionMs = 10_000;

const admitDueSql = `
SELECT fairlead.admit(NULL) AS admitted,
  (SELECT min(due) - fairlead.now_ms() FROM fairlead.runs
   WHERE status = 'queued' AND NOT dispatched AND due > fairlead.now_ms()) AS wait`;

const queueStateSql = `
SELECT (SELECT value FROM fairlead.control WHERE name = 'limits') AS limits,
  EXISTS (SELECT 1 FROM fairlead.control WHERE name = '${killSwitchRowName}' AND value ~ '^[{]"stopped":false[,}]') AS active`;

const deleteEndedWorkflowsSql = `
WITH deleted AS (
  DELETE FROM fairlead_dbos.workflow_status USING set_config('synchronous_commit', 'off', true) WHERE workflow_uuid IN (
    SELECT workflow_uuid FROM fairlead_dbos.workflow_status
    WHERE status NOT IN ('ENQUEUED', 'PENDING') AND completed_at < fairlead.now_ms() - $1::bigint LIMIT 5000)
  RETURNING workflow_uuid
), deleted_inputs AS (DELETE FROM fairlead_dbos.workflow_input USING deleted WHERE workflow_input.workflow_uuid = deleted.workflow_uuid)
DELETE FROM fairlead_dbos.workflow_output USING deleted WHERE workflow_output.workflow_uuid = deleted.workflow_uuid`;

/**
 * Dispatches queued runs again that have no workflow. Joins by the workflow's id only: a join by its state would compare each run with all
 * queued workflows. Checks a page of runs, and returns the last key if there may be more.
 */
const redispatchLostSql = `
WITH page AS MATERIALIZED (
  SELECT key, id || '#' || segment AS workflow FROM fairlead.runs
  WHERE status = 'queued' AND dispatched AND key > $1 ORDER BY key LIMIT ${maxRunsChecked}
), missing AS MATERIALIZED (
  SELECT key FROM page LEFT JOIN LATERAL (
    SELECT status FROM fairlead_dbos.workflow_status WHERE workflow_uuid = page.workflow OFFSET 0
  ) AS known ON true
  WHERE known.status IS NULL OR known.status NOT IN ('ENQUEUED', 'PENDING')
), lost AS (
  SELECT array_agg(key) AS keys FROM (
    SELECT key FROM fairlead.runs WHERE key = ANY (ARRAY(SELECT key FROM missing)) AND status = 'queued' AND dispatched
    FOR UPDATE SKIP LOCKED) AS each
)
SELECT fairlead.dispatch(keys), (SELECT CASE WHEN count(*) = ${maxRunsChecked} THEN max(key) END FROM page) AS last FROM lost`;

/** Creates the periodic work; `isHandling` returns whether this worker handles a workflow. */
export function createMaintenance(
  context: PostgresContext,
  lease: PostgresProcessLease,
  enqueue: EnqueueRuns,
  isHandling: (workflow: string) => boolean,
): Maintenance {
  const { db } = context;
  let nextRun = -Infinity;
  let nextCleanup = performance.now() + cleanupIntervalMs * Math.random();
  let stateReadAt = -Infinity;
  let limits: QueueLimits = {};
  let isActive = false;
  let lastCheckedKey = 0;
  let idleBefore: ReadonlySet<string> = new Set();

  /** A workflow that DBOS has handed to this lease, but that this worker does not handle, twice in a row, was claimed by a call whose reply was lost. */
  async function releaseIdleWorkflows(): Promise<void> {
    const holder = await lease.token();
    const idle = (await listHeldWorkflows(context, holder)).filter((workflow) => !isHandling(workflow));
    const lost = idle.filter((workflow) => idleBefore.has(workflow));
    idleBefore = new Set(idle);
    if (lost.length > 0) await releaseWorkflows(context, holder, lost);
  }

  async function cleanUp(): Promise<void> {
    nextCleanup = performance.now() + cleanupIntervalMs * (0.5 + Math.random());
    await releaseIdleWorkflows();
    await db.all(deleteEndedWorkflowsSql, [Math.max(workflowRetentionMs, (limits.rate?.ms ?? 0) * 2)]);
    lastCheckedKey = (await db.one<{ last: number | null }>(redispatchLostSql, [lastCheckedKey]))?.last ?? 0;
  }

  return {
    async runDue() {
      const now = performance.now();
      if (now < nextRun) return;
      nextRun = now + maintenanceIntervalMs;
      await lease.reapExpired();
      await enqueueDuePostgresSchedules(context, enqueue);
      const row = await db.one<{ admitted: number; wait: number | null }>(admitDueSql);
      nextRun = now + Math.min(maintenanceIntervalMs, Math.max(1, row?.wait ?? maintenanceIntervalMs));
      if (now >= nextCleanup) await cleanUp();
    },
    msUntilNext() {
      return Math.max(1, Math.min(rateDelayMs(limits), nextRun - performance.now()));
    },
    scheduleIn(ms) {
      if (ms > 0) nextRun = Math.min(nextRun, performance.now() + ms);
    },
    async readQueueState() {
      if (performance.now() - stateReadAt > stateCacheMs) {
        const row = await db.one<{ limits: string | null; active: boolean }>(queueStateSql, [], { retryForMs: 1000 });
        limits = parseQueueLimits(row?.limits);
        isActive = row?.active === true;
        stateReadAt = performance.now();
      }
      return { isActive, limits };
    },
  };
}
