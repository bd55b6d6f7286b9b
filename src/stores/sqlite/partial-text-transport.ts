// SQLite transport for partial text: a side database `<store>-live`, created by the first message and polled only while a process listens.
import { closeSync, existsSync, lstatSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CreateMessageBus, BusMessage } from '../partial-text-protocol.ts';
import { openDatabaseFile, retryWhileLocked } from './database.ts';

/** A message bus that can be closed. */
export type SqliteBus = { readonly create: CreateMessageBus; close(): void };

/** Messages older than this are not read, and deleted. */
const messageTtlMs = 30_000;
const cleanupIntervalMs = 5000;

type BusConnection = { readonly db: DatabaseSync; readonly read: StatementSync; readonly write: StatementSync };

type BusRow = { readonly position: number; readonly text: string | null };

/** Opens the bus of a store. Not durable: partial text that a power cut loses is sent again. */
export function openSqliteBus(store: string, pollMs: number): SqliteBus {
  const file = `${store}-live`;
  let connection: BusConnection | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reader = '';
  let last = 0;
  let lastCleanup = 0;

  function poll(ownId: string, receive: (text: string) => void): void {
    // A process that only publishes creates no file: without a file no process has ever subscribed.
    if (!connection && !existsSync(file)) return;
    try {
      connection ??= openBusConnection(file, store);
      const rows = connection.read.all(ownId, last, Date.now() - messageTtlMs) as BusRow[];
      last = rows.at(-1)?.position ?? last;
      for (const { text } of rows) if (text !== null) receive(text);
    } catch {
      // The file is locked or cannot be read: partial text may be lost.
    }
  }

  async function send(messages: readonly BusMessage[]): Promise<void> {
    connection ??= await retryWhileLocked(() => openBusConnection(file, store));
    const { db, write } = connection;
    await retryWhileLocked(() => db.exec('BEGIN IMMEDIATE'));
    try {
      const now = Date.now();
      for (const { to = '', text } of messages) write.run(to, text, now);
      if (now - lastCleanup > cleanupIntervalMs) db.exec(`DELETE FROM letters WHERE time < ${now - messageTtlMs}`);
      if (now - lastCleanup > cleanupIntervalMs) lastCleanup = now;
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    create(ownId, receive) {
      reader = ownId;
      return {
        setListening(isListening) {
          if (isListening) timer ??= setInterval(() => poll(ownId, receive), pollMs).unref();
          else clearInterval(timer);
          if (!isListening) timer = undefined;
        },
        send,
      };
    },
    close() {
      clearInterval(timer);
      try {
        connection?.db.prepare('DELETE FROM letters WHERE receiver = ?').run(reader);
      } catch {
        // The file is locked: the next cleanup deletes the messages.
      }
      connection?.db.close();
      connection = undefined;
    },
  };
}

/** Messages to other processes are skipped, without reading their text. The table `letters` holds messages; `place` is the position of one. */
const readMessagesSql = `
SELECT place AS position, CASE WHEN receiver IN ('', ?) THEN text END AS text FROM letters
WHERE place > ? AND time > ? ORDER BY place LIMIT 500`;

/** Creates the file if there is none. Throws if it is a link, belongs to another user, or is readable by more users than the store. */
function ensurePrivateFile(file: string, store: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // It exists, or cannot be created: the next call reports that.
  }
  const [storeStat, fileStat] = [statSync(store), lstatSync(file)];
  const isOwn = fileStat.isFile() && (fileStat.uid === storeStat.uid || fileStat.uid === process.getuid?.());
  if (!isOwn || (fileStat.mode & ~storeStat.mode & 0o077) !== 0)
    throw new Error(`${file} was created by another user.`);
}

function openBusConnection(file: string, store: string): BusConnection {
  ensurePrivateFile(file, store);
  const db = openDatabaseFile(file);
  try {
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON',
    );
    db.exec(`CREATE TABLE IF NOT EXISTS letters
      (place INTEGER PRIMARY KEY AUTOINCREMENT, receiver TEXT NOT NULL, text TEXT NOT NULL, time INTEGER NOT NULL) STRICT`);
    return {
      db,
      read: db.prepare(readMessagesSql),
      write: db.prepare('INSERT INTO letters (receiver, text, time) VALUES (?, ?, ?)'),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}
