// Letters to sessions, in the order they were put.
import { randomUUID } from 'node:crypto';
import type { InboxDelivery, Inbox } from '../../core/index.ts';
import { parseInboxMessage } from '../inbox-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';

type MessageRow = { readonly ord: number; readonly place: number; readonly letter: string };

/** How often at least it is looked whether there are letters. */
const pollMs = 250;
/** Letters to different sessions may be seen in another order than that of their places; so far back a late one is looked for. */
const reorderWindow = 200;

const readMessagesSql = `
SELECT ord, place, letter FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS box (session, after, ord)
JOIN fairlead.letters ON letters.session = box.session AND place > after ORDER BY place`;

/** The inbox of a store. */
export function createPostgresInbox(base: PostgresContext): Inbox {
  const { db } = base;

  async function* watch(signal: AbortSignal): AsyncGenerator<string> {
    const bell = base.addWaiter('letters');
    try {
      const first = 'SELECT coalesce(max(place), 0) AS place FROM fairlead.letters';
      let last = (await db.one<{ place: number }>(first))?.place ?? 0;
      let seen: ReadonlySet<number> = new Set(await placesSince(last));
      while (!signal.aborted && !db.isClosed) {
        const rows = await lettersSince(last);
        const fresh = rows.filter(({ place }) => !seen.has(place));
        seen = new Set(rows.map(({ place }) => place));
        last = Math.max(last, rows.at(-1)?.place ?? 0);
        for (const session of new Set(fresh.map((row) => row.session))) {
          if (signal.aborted) return;
          yield session;
        }
        await bell.wait({ signal, ms: pollMs });
      }
    } finally {
      bell.remove();
    }
  }

  const lettersSince = (last: number): Promise<readonly { readonly place: number; readonly session: string }[]> =>
    db.all('SELECT place, session FROM fairlead.letters WHERE place > $1 ORDER BY place', [last - reorderWindow]);
  const placesSince = async (last: number): Promise<readonly number[]> =>
    (await lettersSince(last)).map(({ place }) => place);

  const read = createBatcher(async (asked: readonly { readonly session: string; readonly after: number }[]) => {
    const rows = await db.all<MessageRow>(readMessagesSql, [
      asked.map(({ session }) => session),
      asked.map(({ after }) => after),
    ]);
    const letters = Map.groupBy(rows, ({ ord }) => ord);
    return asked.map((_, i) => (letters.get(i + 1) ?? []).map(toInboxDelivery));
  });

  return {
    async send(session, letter) {
      const sql = 'SELECT fairlead.put_letter($1, $2, $3) AS place';
      const row = await db.one<{ place: number }>(sql, [session, randomUUID(), JSON.stringify(letter)]);
      base.notify('letters');
      return row?.place ?? 0;
    },
    read: (session, after) => read({ session, after }),
    async clear(session, upTo) {
      const sql = `DELETE FROM fairlead.letters USING set_config('synchronous_commit', 'off', true)
        WHERE session = $1 AND place <= $2`;
      await db.all(sql, [session, upTo]);
    },
    watch,
  };
}

const toInboxDelivery = ({ place, letter }: MessageRow): InboxDelivery => ({
  position: place,
  message: parseInboxMessage(letter),
});
