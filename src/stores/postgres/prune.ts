// Forgets what is old: runs that ended long ago with their sessions, letters that nobody read, holds that nobody settled.
import { assertValidTime } from '../run-row.ts';
import type { PostgresContext } from './context.ts';

/** So much is forgotten in one statement: others must not wait for a great clearing. */
const pruneBatchSize = 500;

/**
 * A run that has not ended decides by those it has begun what is next: they stay with it. A session goes with the last of its runs,
 * unless somebody has gone on with it since; in one statement, so that a crash leaves none behind that nobody asks for.
 */
const runsSql = `
WITH gone AS (
  DELETE FROM fairlead.runs WHERE key IN (
    SELECT key FROM fairlead.runs AS run WHERE ended < $1 AND NOT EXISTS (
      SELECT 1 FROM fairlead.runs AS parent WHERE parent.id = run.parent AND parent.status <> 'ended'
    ) ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED
  ) RETURNING key, session
), shut AS (
  DELETE FROM fairlead.sessions AS each WHERE session IN (SELECT session FROM gone) AND holder IS NULL AND changed < $3
    AND NOT EXISTS (SELECT 1 FROM fairlead.runs AS other WHERE other.session = each.session AND other.key NOT IN (SELECT key FROM gone))
  RETURNING key
), emptied AS (DELETE FROM fairlead.events USING shut WHERE events.session = shut.key)
SELECT key FROM gone`;

const messagesSql = `
DELETE FROM fairlead.letters AS each WHERE time < $1
  AND NOT EXISTS (SELECT 1 FROM fairlead.runs WHERE runs.session = each.session AND status <> 'ended')`;

/** A hold that was never settled is spent as it was held: as one sum a day it says the same. */
const reservationsSql = `
WITH old AS (DELETE FROM fairlead.holds WHERE day < $1 RETURNING tenant, day, usd, tokens)
INSERT INTO fairlead.spendings AS spent (tenant, day, usd, tokens)
SELECT tenant, day, sum(usd), sum(tokens) FROM old GROUP BY tenant, day
ON CONFLICT (tenant, day) DO UPDATE SET usd = spent.usd + excluded.usd, tokens = spent.tokens + excluded.tokens`;

/** Forgets what ended before a time, and answers how many runs that were. */
export async function prune({ db }: PostgresContext, time: string): Promise<number> {
  assertValidTime({ words: '', notBefore: time });
  const before = Date.parse(time);
  const iso = new Date(before).toISOString();
  let runs = 0;
  for (let some = pruneBatchSize; some === pruneBatchSize;) {
    some = (await db.all(runsSql, [before, pruneBatchSize, iso])).length;
    runs += some;
  }
  await db.all(messagesSql, [before]);
  await db.all(reservationsSql, [iso.slice(0, 10)]);
  return runs;
}
