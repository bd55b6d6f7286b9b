// Forgets what is old: runs that ended long ago with their sessions, letters that nobody read, holds that nobody settled.
import { assertValidTime } from '../run-row.ts';
import type { SqliteContext } from './context.ts';

/** So much is forgotten in one transaction: others must not wait for a great clearing. */
const pruneBatchSize = 500;

/** Forgets what ended before a time, and answers how many runs that were. */
export async function prune(base: SqliteContext, time: string): Promise<number> {
  assertValidTime({ words: '', notBefore: time });
  const before = Date.parse(time);
  let runs = 0;
  for (let some = pruneBatchSize; some === pruneBatchSize;) {
    some = await base.write(() => deleteRuns(base, before));
    runs += some;
  }
  await base.write(() => {
    const open = "SELECT session FROM runs WHERE status <> 'ended'";
    base.run(`DELETE FROM letters WHERE time < ? AND session NOT IN (${open})`, before);
    foldReservations(base, new Date(before).toISOString().slice(0, 10));
  });
  return runs;
}

/** A run that has not ended decides by those it has begun what is next: they stay with it. */
const prunableRunsSql = `
SELECT key, session FROM runs AS run WHERE ended < ? AND NOT EXISTS (
  SELECT 1 FROM runs AS parent WHERE parent.id = run.parent AND parent.status <> 'ended'
) ORDER BY ended LIMIT ?`;

/** A session goes with the last of its runs, unless somebody has gone on with it since. */
function deleteRuns(base: SqliteContext, before: number): number {
  const rows = base.all<{ key: number; session: string }>(prunableRunsSql, before, pruneBatchSize);
  for (const { key } of rows) base.run('DELETE FROM runs WHERE key = ?', key);
  const changed = new Date(before).toISOString();
  for (const session of new Set(rows.map((row) => row.session))) {
    const sql = `SELECT key FROM sessions WHERE session = ?1 AND holder IS NULL AND changed < ?2
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = ?1)`;
    const found = base.one<{ key: number }>(sql, session, changed);
    if (!found) continue;
    base.run('DELETE FROM events WHERE session = ?', found.key);
    base.run('DELETE FROM sessions WHERE key = ?', found.key);
  }
  return rows.length;
}

/** A hold that was never settled is spent as it was held: as one sum a day it says the same. */
function foldReservations(base: SqliteContext, day: string): void {
  base.run(
    `INSERT INTO spendings (tenant, day, usd, tokens)
     SELECT tenant, day, sum(usd), sum(tokens) FROM holds WHERE day < ? GROUP BY tenant, day
     ON CONFLICT DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens`,
    day,
  );
  base.run('DELETE FROM holds WHERE day < ?', day);
}
