// Deletes old data from a PostgreSQL store.
import { prune } from '../prune.ts';
import type { PostgresContext } from './context.ts';

/**
 * The children of a run that has not ended stay, because the run reads their outcomes. A session is deleted with the last of its runs, unless
 * it was changed later. One statement, so that a crash leaves no session without its run.
 */
const deleteRunsSql = `
WITH deleted AS (
  DELETE FROM fairlead.runs WHERE key IN (
    SELECT key FROM fairlead.runs AS run WHERE ended < $1 AND NOT EXISTS (
      SELECT 1 FROM fairlead.runs AS parent WHERE parent.id = run.parent AND parent.status <> 'ended'
    ) ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED
  ) RETURNING key, session
), deleted_sessions AS (
  DELETE FROM fairlead.sessions AS each WHERE session IN (SELECT session FROM deleted) AND holder IS NULL AND changed < $3
    AND NOT EXISTS (SELECT 1 FROM fairlead.runs AS other WHERE other.session = each.session AND other.key NOT IN (SELECT key FROM deleted))
  RETURNING key
), deleted_events AS (DELETE FROM fairlead.events USING deleted_sessions WHERE events.session = deleted_sessions.key)
SELECT key FROM deleted`;

const deleteMessagesSql = `
DELETE FROM fairlead.letters AS each WHERE time < $1
  AND NOT EXISTS (SELECT 1 FROM fairlead.runs WHERE runs.session = each.session AND status <> 'ended')`;

/** A reservation that was never committed counts as spent. One sum per day means the same. */
const addReservationsSql = `
WITH old AS (DELETE FROM fairlead.holds WHERE day < $1 RETURNING tenant, day, usd, tokens)
INSERT INTO fairlead.spendings AS spent (tenant, day, usd, tokens)
SELECT tenant, day, sum(usd), sum(tokens) FROM old GROUP BY tenant, day
ON CONFLICT (tenant, day) DO UPDATE SET usd = spent.usd + excluded.usd, tokens = spent.tokens + excluded.tokens`;

/** Deletes what is older than a time, and returns how many runs were deleted. */
export const prunePostgres = ({ db }: PostgresContext, time: string): Promise<number> =>
  prune(time, {
    deleteRuns: async ({ ms, iso }, limit) => (await db.all(deleteRunsSql, [ms, limit, iso])).length,
    async deleteRest({ ms, day }) {
      await db.all(deleteMessagesSql, [ms]);
      await db.all(addReservationsSql, [day]);
    },
  });
