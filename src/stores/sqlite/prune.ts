// Deletes old data from a SQLite store.
import { prune, type PruneCutoff } from '../prune.ts';
import type { SqliteContext } from './context.ts';

/** Deletes what is older than a time, and returns how many runs were deleted. */
export const pruneSqlite = (context: SqliteContext, time: string): Promise<number> =>
  prune(time, {
    deleteRuns: (cutoff, limit) => context.write(() => deleteRuns(context, cutoff, limit)),
    deleteRest: ({ ms, day }) =>
      context.write(() => {
        context.run(deleteMessagesSql, ms);
        context.run(addReservationsSql, day);
        context.run('DELETE FROM holds WHERE day < ?', day);
      }),
  });

/** The children of a run that has not ended stay, because the run reads their outcomes. */
const prunableRunsSql = `
SELECT key, session FROM runs AS run WHERE ended < ? AND NOT EXISTS (
  SELECT 1 FROM runs AS parent WHERE parent.id = run.parent AND parent.status <> 'ended'
) ORDER BY ended LIMIT ?`;

/** A session is deleted with the last of its runs, unless it was changed later. */
const prunableSessionSql = `
SELECT key FROM sessions WHERE session = ?1 AND holder IS NULL AND changed < ?2
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = ?1)`;

const deleteMessagesSql = `
DELETE FROM letters WHERE time < ? AND session NOT IN (SELECT session FROM runs WHERE status <> 'ended')`;

/** A reservation that was never committed counts as spent. One sum per day means the same. */
const addReservationsSql = `
INSERT INTO spendings (tenant, day, usd, tokens)
SELECT tenant, day, sum(usd), sum(tokens) FROM holds WHERE day < ? GROUP BY tenant, day
ON CONFLICT DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens`;

function deleteRuns(context: SqliteContext, { ms, iso }: PruneCutoff, limit: number): number {
  const rows = context.all<{ key: number; session: string }>(prunableRunsSql, ms, limit);
  for (const { key } of rows) context.run('DELETE FROM runs WHERE key = ?', key);
  for (const session of new Set(rows.map((row) => row.session))) {
    const sessionRow = context.one<{ key: number }>(prunableSessionSql, session, iso);
    if (!sessionRow) continue;
    context.run('DELETE FROM events WHERE session = ?', sessionRow.key);
    context.run('DELETE FROM sessions WHERE key = ?', sessionRow.key);
  }
  return rows.length;
}
