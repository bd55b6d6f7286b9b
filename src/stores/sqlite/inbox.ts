// Letters to sessions, in the order they were put.
import type { InboxDelivery, Inbox } from '../../core/index.ts';
import { parseInboxMessage } from '../inbox-row.ts';
import type { SqliteContext } from './context.ts';
import { insertMessage } from './runs.ts';

/** The inbox of a store. */
export function createSqliteInbox(base: SqliteContext): Inbox {
  const last = (): number => base.one<{ place: number | null }>('SELECT max(place) AS place FROM letters')?.place ?? 0;
  return {
    send: (session, letter) => base.write(() => insertMessage(base, session, letter)),
    async read(session, after) {
      const sql = 'SELECT place, letter FROM letters WHERE session = ? AND place > ? ORDER BY place';
      return base.read(() => base.all<{ place: number; letter: string }>(sql, session, after)).map(toInboxDelivery);
    },
    clear: (session, upTo) =>
      base.write(() => void base.run('DELETE FROM letters WHERE session = ? AND place <= ?', session, upTo), {
        settle: false,
      }),
    async *watch(signal) {
      for (let seen = base.read(last); !signal.aborted && !base.isClosed;) {
        const sql = 'SELECT session, place FROM letters WHERE place > ? ORDER BY place';
        const rows = base.read(() => base.all<{ session: string; place: number }>(sql, seen));
        seen = rows.at(-1)?.place ?? seen;
        for (const session of new Set(rows.map((row) => row.session))) {
          if (signal.aborted) return;
          yield session;
        }
        if (rows.length === 0) await base.waiters.waitForChange('letters', { signal });
      }
    },
  };
}

const toInboxDelivery = ({ place, letter }: { readonly place: number; readonly letter: string }): InboxDelivery => ({
  position: place,
  message: parseInboxMessage(letter),
});
