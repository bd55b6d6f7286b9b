// Runs in PostgreSQL rows: added, found and listed.
import type { FleetRun, NewRun, QueueDepth, RunFilter } from '../../core/index.ts';
import { defaultListLimit } from '../defaults.ts';
import {
  assertValidTime,
  toFleetRun,
  toNewRunRow,
  toQueueDepth,
  mentionsAutoSql,
  runBytesSql,
  toStoredStatus,
  type NewRunRow,
  type RunRow,
} from '../run-row.ts';
import { tryParseJson } from '../try-parse-json.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import type { SqlValue } from './database.ts';

/** The columns of a run by name: a later version may add some. */
export const runColumns = `key, id, words, kind, settings, session, tenant, priority, parent, status, attempts, failures, woken, queued, due,
  later, started, ended, worker, holder, version, questions, outcome`;

/** The time from which a run could be started: the wait until `notBefore` does not count. */
export const readySinceSql = 'greatest(queued, coalesce(later, 0))';

/** How many runs one statement adds. */
const enqueueBatchSize = 500;

/** The run of a row. */
export const decodeFleetRun = (row: RunRow): FleetRun => toFleetRun(decodePrompt(row));

/** A row with its prompt as text. The prompt is stored as JSON, because a PostgreSQL text cannot hold every character. */
export const decodePrompt = (row: RunRow): RunRow => ({ ...row, words: tryParseJson(row.words) as string });

/** Adds runs, each once, and returns them as they are in the store. */
export type EnqueueRuns = (runs: readonly NewRun[]) => Promise<readonly FleetRun[]>;

/** Creates the function that adds runs to a store; calls at the same time share a statement. */
export function createEnqueuer(context: PostgresContext): EnqueueRuns {
  const add = createBatcher(
    async (lists: readonly (readonly NewRunRow[])[]) => {
      const all = lists.flat();
      await context.db.all('SELECT fairlead.enqueue($1)', [JSON.stringify(all.map((run, ord) => ({ ...run, ord })))]);
      context.notify('queue');
      const sql = `SELECT ${runColumns} FROM fairlead.runs WHERE id = ANY ($1)`;
      const rows = await context.db.all<RunRow>(sql, [all.map(({ id }) => id)]);
      const byId = new Map(rows.map((row) => [row.id, decodeFleetRun(row)]));
      return lists.map((list) => list.flatMap(({ id }) => byId.get(id) ?? []));
    },
    (list) => list.length,
  );
  return async (runs) => {
    for (const { notBefore } of runs) assertValidTime(notBefore);
    const added: FleetRun[] = [];
    for (let start = 0; start < runs.length; start += enqueueBatchSize)
      added.push(
        ...(await add(runs.slice(start, start + enqueueBatchSize).map((run) => encodePrompt(toNewRunRow(run))))),
      );
    return added;
  };
}

const encodePrompt = (row: NewRunRow): NewRunRow => ({ ...row, words: JSON.stringify(row.words) });

/** The run with an id. */
export async function findRun({ db }: PostgresContext, id: string): Promise<FleetRun | undefined> {
  const row = await db.one<RunRow>(`SELECT ${runColumns} FROM fairlead.runs WHERE id = $1`, [id]);
  return row && decodeFleetRun(row);
}

/** Runs, latest first. */
export async function listRuns({ db }: PostgresContext, filter: RunFilter): Promise<readonly FleetRun[]> {
  const values: SqlValue[] = [filter.limit ?? defaultListLimit];
  const conditions = (['status', 'tenant', 'parent', 'session'] as const).flatMap((column) => {
    const value = column === 'status' ? filter.status && toStoredStatus(filter.status) : filter[column];
    return value === undefined ? [] : [`${column} = $${values.push(value)}`];
  });
  if (filter.before !== undefined)
    conditions.push(
      `key < coalesce((SELECT key FROM fairlead.runs WHERE id = $${values.push(filter.before)}), 9223372036854775807)`,
    );
  if (filter.mentionsAuto) conditions.push(mentionsAutoSql);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await db.all<RunRow>(
    `SELECT ${runColumns} FROM fairlead.runs ${where} ORDER BY key DESC LIMIT $1`,
    values,
  );
  return rows.map(decodeFleetRun);
}

/** How many runs are queued, running and waiting, of one tenant or of all. */
export async function readDepth({ db }: PostgresContext, tenant?: string): Promise<QueueDepth> {
  const rows = await db.all<{ status: string; count: number; oldest: number | null }>(
    `SELECT status, count(*) AS count, min(${readySinceSql}) FILTER (WHERE coalesce(later, 0) <= fairlead.now_ms()) AS oldest
     FROM fairlead.runs WHERE status <> 'ended' AND ($1::text IS NULL OR tenant = $1) GROUP BY status`,
    [tenant ?? null],
  );
  const find = (status: string): (typeof rows)[number] | undefined => rows.find((row) => row.status === status);
  return toQueueDepth((status) => find(status)?.count ?? 0, find('queued')?.oldest);
}

/** The bytes of the runs of a tenant that have not ended. */
export async function readOpenBytes({ db }: PostgresContext, tenant: string): Promise<number> {
  const sql = `SELECT ${runBytesSql}::bigint AS bytes FROM fairlead.runs WHERE status <> 'ended' AND tenant = $1`;
  return Number((await db.one<{ bytes: number | string }>(sql, [tenant]))?.bytes ?? 0);
}
