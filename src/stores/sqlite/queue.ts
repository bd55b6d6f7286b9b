// The queue of a SQLite store.
import {
  zeroUsage,
  type RunQueue,
  type QueueDepth,
  type FleetRun,
  type RunFilter,
  type RunStatus,
} from '../../core/index.ts';
import { assertValidTime, toFleetRun, type RunRow } from '../run-row.ts';
import { createRunStatsAggregator, type EndedRunRow } from '../run-stats.ts';
import type { SqliteContext } from './context.ts';
import { readSqliteQueueLimits } from './claim.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { addRun, endRun, findRun, insertMessage, wakeRun } from './runs.ts';
import { readSchedules, setSchedule } from './schedules.ts';
import { runSqliteWorkerLoop } from './worker-loop.ts';

const defaultListLimit = 100;
/** Since when a run could have been begun: who asks for a later time does not wait until then. */
const readySinceSql = 'max(queued, coalesce(later, 0))';
const endedRunsSql = `SELECT ended, reason, usd, tokens, max(0, started - ${readySinceSql}) AS waited, ended - started AS took FROM runs
  WHERE ended >= ? AND ended < ? ORDER BY ended`;
/** So many runs are added in one transaction. */
const enqueueBatchSize = 200;
const statuses: readonly RunStatus[] = ['queued', 'running', 'resting', 'ended'];

/** The queue in a store. */
export function createSqliteQueue(base: SqliteContext, presence: SqliteProcessLease, retryMs: number): RunQueue {
  function cancelRun(id: string, detail: string): RunRow | undefined {
    const row = findRun(base, id);
    if (row?.status === 'running') {
      insertMessage(base, row.session, { type: 'cancel', run: id });
      wakeRun(base, id);
    } else if (row && row.status !== 'ended')
      endRun(base, row, { reason: 'cancelled', detail, text: '', spent: zeroUsage });
    const begun = "SELECT id FROM runs WHERE parent = ? AND status <> 'ended'";
    if (row) for (const child of base.all<{ id: string }>(begun, id)) cancelRun(child.id, detail);
    return findRun(base, id);
  }

  return {
    async enqueue(runs) {
      for (const run of runs) assertValidTime(run);
      const added: FleetRun[] = [];
      for (let i = 0; i < runs.length; i += enqueueBatchSize)
        added.push(...(await base.write(() => runs.slice(i, i + enqueueBatchSize).map((run) => addRun(base, run)))));
      return added;
    },
    wake: (run) => base.write(() => wakeRun(base, run)),
    cancel: (run, detail) => base.write(() => toOptionalRun(cancelRun(run, detail))),
    run: async (id) => base.read(() => toOptionalRun(findRun(base, id))),
    list: async (filter = {}) => base.read(() => listRuns(base, filter).map(toFleetRun)),
    depth: async () => base.read(() => readDepth(base)),
    work: (given) => runSqliteWorkerLoop(base, presence, given, retryMs),
    limits: async () => base.read(() => readSqliteQueueLimits(base)),
    setLimits: (limits) =>
      base.write(() => {
        const sql = "INSERT INTO control (name, value) VALUES ('limits', ?1) ON CONFLICT DO UPDATE SET value = ?1";
        base.run(sql, JSON.stringify(limits));
        base.notify('queue');
      }),
    schedules: async () => base.read(() => readSchedules(base)),
    setSchedule: (schedule) => setSchedule(base, schedule),
    async stats(from, to, stretchMs) {
      const ends = [Date.parse(from), Date.parse(to)] as const;
      const sum = createRunStatsAggregator({ from: ends[0], to: ends[1], bucketMs: stretchMs });
      return base.read(() => sum(base.each<EndedRunRow>(endedRunsSql, ...ends)));
    },
  };
}

const toOptionalRun = (row: RunRow | undefined): FleetRun | undefined => row && toFleetRun(row);

function listRuns(base: SqliteContext, filter: RunFilter): readonly RunRow[] {
  const before = filter.before === undefined ? undefined : findRun(base, filter.before)?.key;
  const wanted = (['tenant', 'parent', 'session'] as const).flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : [{ column, value }];
  });
  // Written out, so that the indexes of the few that have not ended are used.
  const status = statuses.filter((each) => each === filter.status).map((each) => `status = '${each}'`);
  const where = ['key < ?', ...wanted.map(({ column }) => `${column} = ?`), ...status].join(' AND ');
  return base.all<RunRow>(
    `SELECT * FROM runs WHERE ${where} ORDER BY key DESC LIMIT ?`,
    before ?? Number.MAX_SAFE_INTEGER,
    ...wanted.map(({ value }) => value),
    filter.most ?? defaultListLimit,
  );
}

function readDepth(base: SqliteContext): QueueDepth {
  const count = (status: string): number =>
    base.one<{ count: number }>(`SELECT count(*) AS count FROM runs WHERE status = '${status}'`)?.count ?? 0;
  const sql = `SELECT min(${readySinceSql}) AS oldest FROM runs WHERE status = 'queued' AND coalesce(later, 0) <= ?`;
  const oldest = base.one<{ oldest: number | null }>(sql, Date.now())?.oldest ?? undefined;
  return {
    queued: count('queued'),
    running: count('running'),
    resting: count('resting'),
    ...(oldest === undefined ? {} : { oldest: new Date(oldest).toISOString() }),
  };
}
