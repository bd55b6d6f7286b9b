// Run queue of a PostgreSQL store.
import { randomUUID } from 'node:crypto';
import { zeroUsage, type RunQueue, type RunOutcome } from '../../core/index.ts';
import { formatRunOutcome, type RunRow } from '../run-row.ts';
import { createRunStatsAggregator, type EndedRunRow } from '../run-stats.ts';
import type { PostgresContext } from './context.ts';
import { readPostgresQueueLimits, writePostgresQueueLimits } from './fleet-control.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import {
  runColumns,
  readDepth,
  readOpenBytes,
  createEnqueuer,
  findRun,
  listRuns,
  readySinceSql,
  decodeFleetRun,
} from './runs.ts';
import { createPostgresSchedules } from './schedules.ts';
import { runPostgresWorkerLoop, type WorkerResources } from './worker-loop.ts';

const cancelSql = `SELECT ${runColumns} FROM fairlead.cancel($1, $2, $3)`;
const openChildrenSql = "SELECT id FROM fairlead.runs WHERE parent = $1 AND status <> 'ended'";
const endedRunsSql = `
SELECT ended, reason, usd, tokens, CASE WHEN started IS NOT NULL THEN greatest(0, started - ${readySinceSql}) END AS queue_ms, ended - started AS duration_ms FROM fairlead.runs
WHERE ended >= $1 AND ended < $2 AND ($3::text IS NULL OR tenant = $3) ORDER BY ended`;

/** The queue of a store. */
export function createPostgresQueue(
  context: PostgresContext,
  lease: PostgresProcessLease,
  resources: Omit<WorkerResources, 'enqueue'>,
): RunQueue {
  const { db } = context;
  const enqueue = createEnqueuer(context);
  return {
    enqueue,
    async wake(run) {
      await db.all('SELECT fairlead.wake($1)', [run]);
      context.notify('queue');
    },
    async cancel(run, detail) {
      const outcome: RunOutcome = { reason: 'cancelled', detail, text: '', spent: zeroUsage };
      const cancelTree = async (id: string): Promise<RunRow | undefined> => {
        const row = await db.one<RunRow>(cancelSql, [id, randomUUID(), formatRunOutcome(outcome)]);
        // One by one, parents first: a child that ends meanwhile locks the row of its parent too.
        if (row) for (const child of await db.all<{ id: string }>(openChildrenSql, [id])) await cancelTree(child.id);
        return row;
      };
      const row = await cancelTree(run);
      context.notify('queue');
      context.notify('inbox');
      return row && decodeFleetRun(row);
    },
    run: (id) => findRun(context, id),
    list: (filter = {}) => listRuns(context, filter),
    depth: (tenant) => readDepth(context, tenant),
    openBytes: (tenant) => readOpenBytes(context, tenant),
    work: (options) => runPostgresWorkerLoop(context, lease, { ...resources, enqueue }, options),
    limits: () => readPostgresQueueLimits(context),
    setLimits: (limits) => writePostgresQueueLimits(context, limits),
    ...createPostgresSchedules(context),
    async stats(from, to, bucketMs, tenant) {
      const range = { from: Date.parse(from), to: Date.parse(to), bucketMs };
      const aggregate = createRunStatsAggregator(range);
      return aggregate(await db.all<EndedRunRow>(endedRunsSql, [range.from, range.to, tenant ?? null]));
    },
  };
}
