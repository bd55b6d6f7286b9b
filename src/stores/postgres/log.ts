// Session log in PostgreSQL: reads along any branch without touching events outside it.
import type { Log } from '../../core/index.ts';
import { parseEventRow, parseEventSeq, type EventRow } from '../event-row.ts';
import { createLogReader, type SessionRow } from '../session-log.ts';
import { unknownEventError } from '../store-errors.ts';
import type { PostgresContext } from './context.ts';

/** A batch of events is limited by count and by size. */
const maxBatchEvents = 256;
const maxBatchBytes = 4 * 1024 * 1024;
/** How often a follower reads if it gets no notification. */
const pollMs = 1000;

/** Goes back from the last jump before an event to the event that the jump follows, until the root or the last epoch. */
const branchSql = `
WITH RECURSIVE part (low, high, jump) AS (
  SELECT coalesce(seq, 1), $2::bigint, coalesce(jump, 0) FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT seq, jump FROM fairlead.events WHERE session = $1 AND seq <= $2 AND jump IS NOT NULL ORDER BY seq DESC LIMIT 1
  ) AS last ON true
  UNION ALL
  SELECT coalesce(last.seq, 1), part.jump, coalesce(last.jump, 0) FROM part LEFT JOIN LATERAL (
    SELECT seq, jump FROM fairlead.events
    WHERE session = $1 AND seq <= part.jump AND events.jump IS NOT NULL ORDER BY seq DESC LIMIT 1
  ) AS last ON true
  WHERE part.jump > 0 AND NOT ($3 AND EXISTS (
    SELECT 1 FROM fairlead.events WHERE session = $1 AND seq BETWEEN part.low AND part.high AND epoch))
)
SELECT high AS to, CASE WHEN $3 THEN coalesce(
  (SELECT max(seq) FROM fairlead.events WHERE session = $1 AND seq BETWEEN low AND high AND epoch), low) ELSE low END AS from
FROM part WHERE high > 0 ORDER BY high`;

const batchSql = `
SELECT seq, id, parent, time, fact FROM (
  SELECT *, sum(length(fact)) OVER (ORDER BY seq) - length(fact) AS before FROM (
    SELECT seq, id, parent, time, fact FROM fairlead.events
    WHERE session = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT ${maxBatchEvents}
  ) AS page
) AS summed WHERE before < ${maxBatchBytes} ORDER BY seq`;

/** Reads and follows a session. The writer of the session passes `lastSeq`, because it knows the last event without a query. */
export function createPostgresLogReader(
  context: PostgresContext,
  { key, session }: Pick<SessionRow, 'key' | 'session'>,
  isClosed: () => boolean,
  lastSeq?: () => number,
): Pick<Log, 'read' | 'follow'> {
  const { db } = context;
  return createLogReader({
    session,
    async findEnd(at) {
      if (at !== undefined) return findEventSeq(context, key, at);
      if (lastSeq) return lastSeq();
      return (await db.one<{ seq: number }>('SELECT seq FROM fairlead.sessions WHERE key = $1', [key]))?.seq ?? 0;
    },
    branch: (end, fromEpoch) => db.all(branchSql, [key, end, fromEpoch]),
    batch: async (from, to) =>
      (await db.all<EventRow>(batchSql, [key, from, to])).map((row) => parseEventRow(session, row)),
    addWaiter: () => context.addWaiter(`session ${key}`),
    pollMs,
    isClosed: () => isClosed() || db.isClosed,
  });
}

/** The seq of the event with an id; throws if the session has none. */
export async function findEventSeq({ db }: PostgresContext, key: number, id: string): Promise<number> {
  const seq = parseEventSeq(id);
  const sql = 'SELECT id FROM fairlead.events WHERE session = $1 AND seq = $2';
  if (seq !== undefined && (await db.one<{ id: string }>(sql, [key, seq]))?.id === id) return seq;
  throw unknownEventError(id);
}
