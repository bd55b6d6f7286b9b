// Inbox of a PostgreSQL store: messages to sessions, in the order in which they were sent.
import { randomUUID } from 'node:crypto';
import type { Inbox } from '../../core/index.ts';
import { formatInboxMessage, toInboxDelivery, type MessageRow } from '../inbox-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';

/** How often a watcher reads if it gets no notification. */
const pollMs = 250;
/** Messages to different sessions may become visible in another order than that of their positions; a watcher also reads this many positions before the last one. */
const reorderWindow = 200;

const readMessagesSql = `
SELECT ord, place AS position, letter AS message FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS box (session, after, ord)
JOIN fairlead.letters ON letters.session = box.session AND place > after ORDER BY place`;
const lastPositionSql = 'SELECT coalesce(max(place), 0) AS position FROM fairlead.letters';
const recentSql = 'SELECT place AS position, session FROM fairlead.letters WHERE place > $1 ORDER BY place';
const clearSql = `
DELETE FROM fairlead.letters USING set_config('synchronous_commit', 'off', true) WHERE session = $1 AND place <= $2`;

type RecentRow = { readonly position: number; readonly session: string };

/** The inbox of a store. */
export function createPostgresInbox(context: PostgresContext): Inbox {
  const { db } = context;
  const listRecent = (last: number): Promise<readonly RecentRow[]> => db.all(recentSql, [last - reorderWindow]);
  const toPositions = (rows: readonly RecentRow[]): ReadonlySet<number> =>
    new Set(rows.map(({ position }) => position));

  async function* watch(signal: AbortSignal): AsyncGenerator<string> {
    const waiter = context.addWaiter('inbox');
    try {
      let last = (await db.one<{ position: number }>(lastPositionSql))?.position ?? 0;
      let seen = toPositions(await listRecent(last));
      while (!signal.aborted && !db.isClosed) {
        const rows = await listRecent(last);
        const fresh = rows.filter(({ position }) => !seen.has(position));
        seen = toPositions(rows);
        last = Math.max(last, rows.at(-1)?.position ?? 0);
        for (const session of new Set(fresh.map((row) => row.session))) {
          if (signal.aborted) return;
          yield session;
        }
        await waiter.wait({ signal, ms: pollMs });
      }
    } finally {
      waiter.remove();
    }
  }

  const read = createBatcher(async (requests: readonly { readonly session: string; readonly after: number }[]) => {
    const rows = await db.all<MessageRow & { readonly ord: number }>(readMessagesSql, [
      requests.map(({ session }) => session),
      requests.map(({ after }) => after),
    ]);
    const byRequest = Map.groupBy(rows, ({ ord }) => ord);
    return requests.map((_, i) => (byRequest.get(i + 1) ?? []).map(toInboxDelivery));
  });

  return {
    async send(session, message) {
      const sql = 'SELECT fairlead.put_letter($1, $2, $3) AS position';
      const row = await db.one<{ position: number }>(sql, [session, randomUUID(), formatInboxMessage(message)]);
      context.notify('inbox');
      return row?.position ?? 0;
    },
    read: (session, after) => read({ session, after }),
    async clear(session, upTo) {
      await db.all(clearSql, [session, upTo]);
    },
    watch,
  };
}
