// What every part of a PostgreSQL store stands on: its statements, and bells that ring for changes here and in other processes.
import { settlesWithin, closeTimeoutMs } from './timeouts.ts';
import { createWaiters, type Waiter, type ChangeTopic } from '../waiters.ts';
import { openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { startListener, type NotificationListener } from './listener.ts';

/** The ground that the parts share. */
export type PostgresContext = {
  readonly db: PostgresDatabase;
  /** Something changed: rings here at once and elsewhere soon. */
  notify(topic: ChangeTopic): void;
  /** Rings here only. */
  notifyLocal(topic: ChangeTopic): void;
  /** A bell that other processes ring too; whoever waits at it looks by himself after a while, should one not be heard. */
  addWaiter(topic: ChangeTopic): Waiter;
  /** What else is told on a channel; to be said before anything is heard. */
  readonly channels: Map<string, (payload: string | undefined) => void>;
  /** Hears what the others tell from now on. */
  startListening(): void;
  close(): Promise<void>;
};

const changeChannel = 'fairlead';
/** What changes within so many milliseconds is told to the others at once. */
const notifyIntervalMs = 10;
/** A message may be 8,000 bytes long. */
const maxPayloadBytes = 7000;

/** Opens the ground of a store; nothing is sent yet. */
export async function openPostgresContext(url: string): Promise<PostgresContext> {
  const db = await openPostgresDatabase(url);
  const bells = createWaiters();
  let touched = new Set<string>();
  let telling: Promise<void> | undefined;
  let ear: NotificationListener | undefined;

  /** Not within the change itself: a message in a transaction makes all commits of the database wait for each other. */
  async function tell(): Promise<void> {
    while (touched.size > 0) {
      const topics = [...touched].join(',');
      touched = new Set();
      const said = topics.length > maxPayloadBytes ? '*' : topics;
      await db.all('SELECT pg_notify($1, $2)', [changeChannel, said], { retryForMs: 0 }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, notifyIntervalMs));
    }
    telling = undefined;
  }

  function hear(topics = '*'): void {
    if (topics === '*') return bells.notifyAll();
    for (const topic of topics.split(',')) bells.notify(topic);
  }

  const channels: PostgresContext['channels'] = new Map([[changeChannel, hear]]);
  const attend = (): void => void (ear ??= startListener(db.url, channels));

  return {
    db,
    notifyLocal: (topic) => bells.notify(topic),
    notify(topic) {
      bells.notify(topic);
      touched.add(topic);
      telling ??= tell();
    },
    channels,
    startListening: attend,
    addWaiter(topic) {
      attend();
      return bells.add(topic);
    },
    async close() {
      if (db.isClosed) return;
      if (telling) await settlesWithin(closeTimeoutMs, telling);
      bells.close();
      await Promise.all([ear?.close(), db.close()]);
    },
  };
}
