// A session's events in the database: one fenced writer, read along any branch without looking at what is not asked for.
import type { Event, Log } from '../../core/index.ts';
import { damagedEventError, parseEventRow, parseEventSeq, type EventRow } from '../event-row.ts';
import { unknownEventError } from '../session-errors.ts';
import type { PostgresContext } from './context.ts';

/** A session as its row says. */
export type SessionRow = {
  readonly key: number;
  readonly session: string;
  readonly seq: number;
  readonly head: string | null;
  readonly fence: number;
};

/** A part of a session, from a seq to a seq. */
type SeqRange = { readonly from: number; readonly to: number };

/** Events are read so many at a time, or fewer where they are long. */
const maxBatchEvents = 256;
const maxBatchBytes = 4 * 1024 * 1024;
/** How often at least a follower looks. */
const pollMs = 1000;

/** From the last jump before an event back to the event that it follows, and so on to the root, or to the last epoch. */
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
  ) AS few
) AS summed WHERE before < ${maxBatchBytes} ORDER BY seq`;

/** A session to be read and followed; its writer knows the last event. */
export function createPostgresLogReader(
  base: PostgresContext,
  { key, session }: Pick<SessionRow, 'key' | 'session'>,
  isClosed: () => boolean,
  tail?: () => number,
): Pick<Log, 'read' | 'follow'> {
  const { db } = base;
  const batch = async (from: number, to: number): Promise<readonly Event[]> =>
    (await db.all<EventRow>(batchSql, [key, from, to])).map((row) => parseEventRow(session, row));

  async function endOf(at: string | undefined): Promise<number> {
    if (at !== undefined) return findEventSeq(base, key, at);
    if (tail) return tail();
    return (await db.one<{ seq: number }>('SELECT seq FROM fairlead.sessions WHERE key = $1', [key]))?.seq ?? 0;
  }

  return {
    async *read({ at, from = 'root' } = {}) {
      const end = await endOf(at);
      if (end === 0) return;
      for (const part of await db.all<SeqRange>(branchSql, [key, end, from === 'epoch'])) {
        for (let start = part.from; start <= part.to;) {
          const events = await batch(start, part.to);
          if (events[0]?.seq !== start) throw damagedEventError(session, start, 'is missing');
          yield events;
          start = (events.at(-1)?.seq ?? part.to) + 1;
        }
      }
    },
    async *follow(from, signal) {
      const bell = base.addWaiter(`session ${key}`);
      try {
        for (let last = from; !signal.aborted && !isClosed();) {
          const events = await batch(last + 1, Number.MAX_SAFE_INTEGER);
          for (const event of events) {
            if (signal.aborted) return;
            last = event.seq;
            yield event;
          }
          if (events.length === 0 && !isClosed()) await bell.wait({ signal, ms: pollMs });
        }
      } finally {
        bell.remove();
      }
    },
  };
}

/** The place of an event that is named. */
export async function findEventSeq({ db }: PostgresContext, key: number, id: string): Promise<number> {
  const seq = parseEventSeq(id);
  const sql = 'SELECT id FROM fairlead.events WHERE session = $1 AND seq = $2';
  if (seq !== undefined && (await db.one<{ id: string }>(sql, [key, seq]))?.id === id) return seq;
  throw unknownEventError(id);
}
