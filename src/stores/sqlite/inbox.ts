// Inbox of a SQLite store: messages to sessions, in the order in which they were sent.
import type { Inbox } from '../../core/index.ts';
import { toInboxDelivery, type MessageRow } from '../inbox-row.ts';
import type { SqliteContext } from './context.ts';
import { insertMessage } from './runs.ts';

const readSql =
  'SELECT place AS position, letter AS message FROM letters WHERE session = ? AND place > ? ORDER BY place';
const clearSql = 'DELETE FROM letters WHERE session = ? AND place <= ?';
const watchSql = 'SELECT session, place AS position FROM letters WHERE place > ? ORDER BY place';

/** The inbox of a store. */
export function createSqliteInbox(context: SqliteContext): Inbox {
  const readLast = (): number =>
    context.one<{ position: number | null }>('SELECT max(place) AS position FROM letters')?.position ?? 0;
  return {
    send: (session, message) => context.write(() => insertMessage(context, session, message)),
    async read(session, after) {
      return context.read(() => context.all<MessageRow>(readSql, session, after)).map(toInboxDelivery);
    },
    clear: (session, upTo) => context.write(() => void context.run(clearSql, session, upTo), { durable: false }),
    async *watch(signal) {
      const waiter = context.waiters.add('inbox');
      try {
        for (let last = context.read(readLast); !signal.aborted && !context.isClosed;) {
          const since = last;
          const rows = context.read(() => context.all<{ session: string; position: number }>(watchSql, since));
          last = rows.at(-1)?.position ?? last;
          for (const session of new Set(rows.map((row) => row.session))) {
            if (signal.aborted) return;
            yield session;
          }
          if (rows.length === 0) await waiter.wait({ signal });
        }
      } finally {
        waiter.remove();
      }
    },
  };
}
