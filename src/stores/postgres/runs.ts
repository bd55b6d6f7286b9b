// The rows of the queue: added, found and listed.
import { randomUUID } from 'node:crypto';
import type { FleetRun, NewRun, QueueDepth, RunFilter } from '../../core/index.ts';
import { tryParseJson } from '../row-json.ts';
import { assertValidTime, toFleetRun, type RunRow } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import type { SqlValue } from './database.ts';

/** The columns of a run by their names: a later version may add some. */
export const runColumns = `key, id, words, kind, settings, session, tenant, priority, parent, status, attempts, failures, woken, queued, due,
  later, started, ended, worker, holder, version, questions, outcome`;

/** Since when a run could have been begun: who asks for a later time does not wait until then. */
export const readySinceSql = 'greatest(queued, coalesce(later, 0))';

const defaultListLimit = 100;
/** So many runs are added in one statement. */
const enqueueBatchSize = 500;

/** A run as others see it. What was asked is kept as JSON, because PostgreSQL's texts hold not every letter. */
export const decodeFleetRun = (row: RunRow): FleetRun => toFleetRun(decodePrompt(row));

/** A row with its words as they were said. */
export const decodePrompt = (row: RunRow): RunRow => ({ ...row, words: tryParseJson(row.words) as string });

/** Adds runs, each once, and gives them as they stand. */
export type EnqueueRuns = (runs: readonly NewRun[]) => Promise<readonly FleetRun[]>;

/** The one way to add runs to a store: those who add some at the same time share a statement. */
export function createEnqueuer(base: PostgresContext): EnqueueRuns {
  const add = createBatcher(
    async (lists: readonly (readonly EnqueueInput[])[]) => {
      const all = lists.flat();
      await base.db.all('SELECT fairlead.enqueue($1)', [JSON.stringify(all.map((run, ord) => ({ ...run, ord })))]);
      base.notify('queue');
      const sql = `SELECT ${runColumns} FROM fairlead.runs WHERE id = ANY ($1)`;
      const rows = await base.db.all<RunRow>(sql, [all.map(({ id }) => id)]);
      const known = new Map(rows.map((row) => [row.id, decodeFleetRun(row)]));
      return lists.map((list) => list.flatMap(({ id }) => known.get(id) ?? []));
    },
    (list) => list.length,
  );
  return async (runs) => {
    for (const run of runs) assertValidTime(run);
    const all: FleetRun[] = [];
    for (let start = 0; start < runs.length; start += enqueueBatchSize)
      all.push(...(await add(runs.slice(start, start + enqueueBatchSize).map(toEnqueueInput))));
    return all;
  };
}

type EnqueueInput = ReturnType<typeof toEnqueueInput>;

function toEnqueueInput(run: NewRun) {
  const id = run.id ?? randomUUID();
  return {
    id,
    words: JSON.stringify(run.words),
    kind: run.kind ?? 'run',
    settings: JSON.stringify(run.settings ?? {}),
    session: run.session ?? id,
    tenant: run.tenant ?? 'default',
    priority: run.priority ?? 0,
    parent: run.parent ?? null,
    later: run.notBefore === undefined ? null : Date.parse(run.notBefore),
  };
}

/** The run of an id. */
export async function findRun({ db }: PostgresContext, id: string): Promise<FleetRun | undefined> {
  const row = await db.one<RunRow>(`SELECT ${runColumns} FROM fairlead.runs WHERE id = $1`, [id]);
  return row && decodeFleetRun(row);
}

/** Runs, the latest first. */
export async function listRuns({ db }: PostgresContext, filter: RunFilter): Promise<readonly FleetRun[]> {
  const values: SqlValue[] = [filter.most ?? defaultListLimit];
  const wanted = (['status', 'tenant', 'parent', 'session'] as const).flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : [`${column} = $${values.push(value)}`];
  });
  if (filter.before !== undefined)
    wanted.push(
      `key < coalesce((SELECT key FROM fairlead.runs WHERE id = $${values.push(filter.before)}), 9223372036854775807)`,
    );
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`;
  const rows = await db.all<RunRow>(
    `SELECT ${runColumns} FROM fairlead.runs ${where} ORDER BY key DESC LIMIT $1`,
    values,
  );
  return rows.map(decodeFleetRun);
}

/** What waits and what is under way. */
export async function readDepth({ db }: PostgresContext): Promise<QueueDepth> {
  const rows = await db.all<{ status: string; count: number; oldest: number | null }>(
    `SELECT status, count(*) AS count, min(${readySinceSql}) FILTER (WHERE coalesce(later, 0) <= fairlead.now_ms()) AS oldest
     FROM fairlead.runs WHERE status <> 'ended' GROUP BY status`,
  );
  const of = (status: string): number => rows.find((row) => row.status === status)?.count ?? 0;
  const oldest = rows.find(({ status }) => status === 'queued')?.oldest;
  return {
    queued: of('queued'),
    running: of('running'),
    resting: of('resting'),
    ...(oldest === undefined || oldest === null ? {} : { oldest: new Date(oldest).toISOString() }),
  };
}
