// Run queue of a SQLite store.
import { zeroUsage, type RunQueue, type QueueDepth, type FleetRun, type RunFilter } from '../../core/index.ts';
import { defaultListLimit } from '../defaults.ts';
import {
  assertValidTime,
  toFleetRun,
  toQueueDepth,
  mentionsAutoSql,
  runBytesSql,
  toStoredStatus,
  type RunRow,
  type StoredRunStatus,
} from '../run-row.ts';
import { createRunStatsAggregator, type EndedRunRow } from '../run-stats.ts';
import type { SqliteContext } from './context.ts';
import { readSqliteQueueLimits, writeSqliteQueueLimits } from './fleet-control.ts';
import type { SqliteProcessLease } from './process-lease.ts';
import { addRun, endRun, findRun, insertMessage, wakeRun } from './runs.ts';
import { createSqliteSchedules } from './schedules.ts';
import { runSqliteWorkerLoop } from './worker-loop.ts';

/** The time from which a run could be started: the wait until `notBefore` does not count. */
const readySinceSql = 'max(queued, coalesce(later, 0))';
const endedRunsSql = `SELECT ended, reason, usd, tokens, max(0, started - ${readySinceSql}) AS queue_ms, ended - started AS duration_ms FROM runs
  WHERE ended >= ?1 AND ended < ?2 AND (?3 IS NULL OR tenant = ?3) ORDER BY ended`;
const openChildrenSql = "SELECT id FROM runs WHERE parent = ? AND status <> 'ended'";
/** Of one tenant, or of all if the first value is NULL. */
const ofTenantSql = '(?1 IS NULL OR tenant = ?1)';
/** How many runs one transaction adds. */
const enqueueBatchSize = 200;
const statuses = (['queued', 'running', 'waiting', 'ended'] as const).map(toStoredStatus);

/** The queue of a store. */
export function createSqliteQueue(context: SqliteContext, lease: SqliteProcessLease, retryMs: number): RunQueue {
  function cancelRun(id: string, detail: string): RunRow | undefined {
    const row = findRun(context, id);
    if (row?.status === 'running') {
      insertMessage(context, row.session, { type: 'cancel', run: id });
      wakeRun(context, id);
    } else if (row && row.status !== 'ended')
      endRun(context, row, { reason: 'cancelled', detail, text: '', spent: zeroUsage });
    if (row) for (const child of context.all<{ id: string }>(openChildrenSql, id)) cancelRun(child.id, detail);
    return findRun(context, id);
  }

  return {
    async enqueue(runs) {
      for (const { notBefore } of runs) assertValidTime(notBefore);
      const added: FleetRun[] = [];
      for (let i = 0; i < runs.length; i += enqueueBatchSize) {
        const batch = runs.slice(i, i + enqueueBatchSize);
        added.push(...(await context.write(() => batch.map((run) => addRun(context, run)))));
      }
      return added;
    },
    wake: (run) => context.write(() => wakeRun(context, run)),
    cancel: (run, detail) => context.write(() => toOptionalRun(cancelRun(run, detail))),
    run: async (id) => context.read(() => toOptionalRun(findRun(context, id))),
    list: async (filter = {}) => context.read(() => listRuns(context, filter).map(toFleetRun)),
    depth: async (tenant) => context.read(() => readDepth(context, tenant ?? null)),
    openBytes: async (tenant) => context.read(() => readOpenBytes(context, tenant)),
    work: (options) => runSqliteWorkerLoop(context, lease, options, retryMs),
    limits: async () => readSqliteQueueLimits(context),
    setLimits: (limits) => writeSqliteQueueLimits(context, limits),
    ...createSqliteSchedules(context),
    async stats(from, to, bucketMs, tenant) {
      const range = { from: Date.parse(from), to: Date.parse(to), bucketMs };
      const aggregate = createRunStatsAggregator(range);
      return context.read(() =>
        aggregate(context.each<EndedRunRow>(endedRunsSql, range.from, range.to, tenant ?? null)),
      );
    },
  };
}

const toOptionalRun = (row: RunRow | undefined): FleetRun | undefined => row && toFleetRun(row);

function listRuns(context: SqliteContext, filter: RunFilter): readonly RunRow[] {
  const before = filter.before === undefined ? undefined : findRun(context, filter.before)?.key;
  const conditions = (['tenant', 'parent', 'session'] as const).flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : [{ column, value }];
  });
  // As a literal, so that SQLite uses the partial indexes of runs that have not ended.
  const wanted = filter.status && toStoredStatus(filter.status);
  const status = statuses.filter((each) => each === wanted).map((each) => `status = '${each}'`);
  // A plus keeps SQLite from the index of the tenant, which may be far longer than that of the session or the parent.
  const isNarrowed = conditions.some(({ column }) => column !== 'tenant');
  const equals = conditions.map(({ column }) => `${isNarrowed && column === 'tenant' ? '+' : ''}${column} = ?`);
  const auto = filter.mentionsAuto ? [mentionsAutoSql] : [];
  const where = ['key < ?', ...equals, ...status, ...auto].join(' AND ');
  return context.all<RunRow>(
    `SELECT * FROM runs WHERE ${where} ORDER BY key DESC LIMIT ?`,
    before ?? Number.MAX_SAFE_INTEGER,
    ...conditions.map(({ value }) => value),
    filter.limit ?? defaultListLimit,
  );
}

function readDepth(context: SqliteContext, tenant: string | null): QueueDepth {
  const count = (status: StoredRunStatus): number =>
    context.one<{ count: number }>(
      `SELECT count(*) AS count FROM runs WHERE status = '${status}' AND ${ofTenantSql}`,
      tenant,
    )?.count ?? 0;
  const sql = `SELECT min(${readySinceSql}) AS oldest FROM runs WHERE status = 'queued' AND ${ofTenantSql} AND coalesce(later, 0) <= ?2`;
  return toQueueDepth(count, context.one<{ oldest: number | null }>(sql, tenant, Date.now())?.oldest);
}

function readOpenBytes(context: SqliteContext, tenant: string): number {
  const sql = `SELECT ${runBytesSql} AS bytes FROM runs WHERE status <> 'ended' AND tenant = ?`;
  return context.one<{ bytes: number }>(sql, tenant)?.bytes ?? 0;
}
