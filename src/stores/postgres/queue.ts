// The queue of a PostgreSQL store.
import { randomUUID } from 'node:crypto';
import { zeroUsage, type RunQueue, type QueueLimits, type RunOutcome } from '../../core/index.ts';
import type { RunRow } from '../run-row.ts';
import { createRunStatsAggregator, type EndedRunRow } from '../run-stats.ts';
import type { PostgresContext } from './context.ts';
import type { PostgresProcessLease } from './process-lease.ts';
import { runColumns, readDepth, createEnqueuer, findRun, listRuns, readySinceSql, decodeFleetRun } from './runs.ts';
import { readSchedules, setSchedule } from './schedules.ts';
import { runPostgresWorkerLoop, type WorkerResources } from './worker-loop.ts';

const cancelSql = `SELECT ${runColumns} FROM fairlead.cancel($1, $2, $3)`;
const openChildrenSql = "SELECT id FROM fairlead.runs WHERE parent = $1 AND status <> 'ended'";
const endedRunsSql = `
SELECT ended, reason, usd, tokens, CASE WHEN started IS NOT NULL THEN greatest(0, started - ${readySinceSql}) END AS waited, ended - started AS took FROM fairlead.runs
WHERE ended >= $1 AND ended < $2 ORDER BY ended`;

/** The queue in a store. */
export function createPostgresQueue(
  base: PostgresContext,
  presence: PostgresProcessLease,
  desk: WorkerResources,
): RunQueue {
  const { db } = base;
  return {
    enqueue: createEnqueuer(base),
    async wake(run) {
      await db.all('SELECT fairlead.wake($1)', [run]);
      base.notify('queue');
    },
    async cancel(run, detail) {
      const outcome: RunOutcome = { reason: 'cancelled', detail, text: '', spent: zeroUsage };
      const end = async (id: string): Promise<RunRow | undefined> => {
        const row = await db.one<RunRow>(cancelSql, [id, randomUUID(), JSON.stringify(outcome)]);
        // One by one, from above: a child that ends meanwhile wants the row of its parent too.
        if (row) for (const child of await db.all<{ id: string }>(openChildrenSql, [id])) await end(child.id);
        return row;
      };
      const row = await end(run);
      base.notify('queue');
      base.notify('letters');
      return row && decodeFleetRun(row);
    },
    run: (id) => findRun(base, id),
    list: (filter = {}) => listRuns(base, filter),
    depth: () => readDepth(base),
    work: (given) => runPostgresWorkerLoop(base, presence, desk, given),
    limits: () => readPostgresQueueLimits(base),
    async setLimits(limits) {
      const sql = "UPDATE fairlead.control SET value = $1 WHERE name = 'limits'";
      await db.all(sql, [JSON.stringify(limits)]);
      base.notify('queue');
    },
    schedules: () => readSchedules(base),
    setSchedule: (schedule) => setSchedule(base, schedule),
    async stats(from, to, stretchMs) {
      const ends = [Date.parse(from), Date.parse(to)] as const;
      const sum = createRunStatsAggregator({ from: ends[0], to: ends[1], bucketMs: stretchMs });
      return sum(await db.all<EndedRunRow>(endedRunsSql, ends));
    },
  };
}

/** The limits that are set. */
export async function readPostgresQueueLimits({ db }: PostgresContext): Promise<QueueLimits> {
  const row = await db.one<{ value: string }>("SELECT value FROM fairlead.control WHERE name = 'limits'");
  return row ? (JSON.parse(row.value) as QueueLimits) : {};
}
