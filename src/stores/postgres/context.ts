// Shared context of a PostgreSQL store: statements, and the wait list for changes in this process and in others.
import { settlesWithin, closeTimeoutMs } from '../timeouts.ts';
import { createWaiters, type Waiter, type ChangeTopic } from '../waiters.ts';
import { openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { startListener, type NotificationListener } from './listener.ts';

/** What the parts of a store use. */
export type PostgresContext = {
  readonly db: PostgresDatabase;
  /** Wakes the waiters of a topic: in this process at once, in others soon. */
  notify(topic: ChangeTopic): void;
  /** Wakes the waiters of this process only. */
  notifyLocal(topic: ChangeTopic): void;
  /** Registers for changes of all processes. A notification may be lost, so a wait needs a timeout. */
  addWaiter(topic: ChangeTopic): Waiter;
  /** Handlers of further channels; must be added before the listener starts. */
  readonly channels: Map<string, (payload: string | undefined) => void>;
  /** Starts the listener for notifications, unless it runs. */
  startListening(): void;
  close(): Promise<void>;
};

const changeChannel = 'fairlead';
/** Changes within so many milliseconds share a notification. */
const notifyIntervalMs = 10;
/** PostgreSQL limits a notification to 8,000 bytes. */
const maxPayloadBytes = 7000;

/** Creates the context; connects when the first statement is sent. */
export async function openPostgresContext(url: string): Promise<PostgresContext> {
  const db = await openPostgresDatabase(url);
  const waiters = createWaiters();
  let changedTopics = new Set<string>();
  let sending: Promise<void> | undefined;
  let listener: NotificationListener | undefined;

  /** Not in the transaction of the change: NOTIFY makes all commits of the database wait for each other. */
  async function sendNotifications(): Promise<void> {
    while (changedTopics.size > 0) {
      const topics = [...changedTopics].join(',');
      changedTopics = new Set();
      const payload = topics.length > maxPayloadBytes ? '*' : topics;
      await db.all('SELECT pg_notify($1, $2)', [changeChannel, payload], { retryForMs: 0 }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, notifyIntervalMs));
    }
    sending = undefined;
  }

  function receive(topics = '*'): void {
    if (topics === '*') return waiters.notifyAll();
    for (const topic of topics.split(',')) waiters.notify(topic);
  }

  const channels: PostgresContext['channels'] = new Map([[changeChannel, receive]]);
  const startListening = (): void => void (listener ??= startListener(() => db.notificationUrl(), channels));

  return {
    db,
    notifyLocal: (topic) => waiters.notify(topic),
    notify(topic) {
      waiters.notify(topic);
      changedTopics.add(topic);
      sending ??= sendNotifications();
    },
    channels,
    startListening,
    addWaiter(topic) {
      startListening();
      return waiters.add(topic);
    },
    async close() {
      if (db.isClosed) return;
      if (sending) await settlesWithin(closeTimeoutMs, sending);
      waiters.close();
      await Promise.all([listener?.close(), db.close()]);
    },
  };
}
