// Letters about words that are not settled, in a small file beside the store's: it is made when somebody first listens, and looked at only while somebody listens or speaks.
import { closeSync, existsSync, lstatSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CreateMessageBus, BusMessage } from '../partial-text-protocol.ts';
import { openDatabaseFile, retryWhileBusy } from './database.ts';

/** A bus in a file, until it is closed. */
export type SqliteBus = { readonly create: CreateMessageBus; close(): void };

/** Letters older than this are read by nobody, and thrown away. */
const messageTtlMs = 30_000;
const cleanupIntervalMs = 5000;

type BusConnection = { readonly db: DatabaseSync; readonly read: StatementSync; readonly write: StatementSync };

type BusRow = { readonly place: number; readonly text: string | null };

/** The bus beside a store's file. Nothing in it is worth a sync: what a power cut takes is said again. */
export function openSqliteBus(store: string, pollMs: number): SqliteBus {
  const file = `${store}-live`;
  let desk: BusConnection | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reader = '';
  let last = 0;
  let swept = 0;

  function look(me: string, heard: (text: string) => void): void {
    // Who only speaks makes no file: where there is none, nobody has ever listened.
    if (!desk && !existsSync(file)) return;
    try {
      desk ??= openBusConnection(file, store);
      const rows = desk.read.all(me, last, Date.now() - messageTtlMs) as BusRow[];
      last = rows.at(-1)?.place ?? last;
      for (const { text } of rows) if (text !== null) heard(text);
    } catch {
      // Another process has it just now, or it cannot be read: words are lost without harm.
    }
  }

  async function post(letters: readonly BusMessage[]): Promise<void> {
    desk ??= await retryWhileBusy(() => openBusConnection(file, store));
    const { db, write } = desk;
    await retryWhileBusy(() => db.exec('BEGIN IMMEDIATE'));
    try {
      const now = Date.now();
      for (const { to = '', text } of letters) write.run(to, text, now);
      if (now - swept > cleanupIntervalMs) db.exec(`DELETE FROM letters WHERE time < ${now - messageTtlMs}`);
      if (now - swept > cleanupIntervalMs) swept = now;
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    create(me, heard) {
      reader = me;
      return {
        setListening(is) {
          if (is) timer ??= setInterval(() => look(me, heard), pollMs).unref();
          else clearInterval(timer);
          if (!is) timer = undefined;
        },
        send: post,
      };
    },
    close() {
      clearInterval(timer);
      try {
        desk?.db.prepare('DELETE FROM letters WHERE receiver = ?').run(reader);
      } catch {
        // Another process has it just now: who writes next throws them away in time.
      }
      desk?.db.close();
      desk = undefined;
    },
  };
}

/** Letters to others are passed over, without their text. */
const readMessagesSql = `
SELECT place, CASE WHEN receiver IN ('', ?) THEN text END AS text FROM letters
WHERE place > ? AND time > ? ORDER BY place LIMIT 500`;

/** Makes the file where there is none. Who may not read the store must not read here either: what another put there, or leads elsewhere, is not used. */
function ensurePrivateFile(file: string, store: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // It is there, or cannot be made, which is found out at once.
  }
  const [mine, found] = [statSync(store), lstatSync(file)];
  const isOurs = found.isFile() && (found.uid === mine.uid || found.uid === process.getuid?.());
  if (!isOurs || (found.mode & ~mine.mode & 0o077) !== 0) throw new Error(`${file} was made by somebody else.`);
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
