// What every part of a PostgreSQL store stands on: its statements, and bells that ring for changes here and in other processes.
import { noLonger, partingMs } from './bounded.ts';
import { newBells, type Bell, type Topic } from './bells.ts';
import { openDatabase, type Database } from './database.ts';
import { listen, type Ear } from './ear.ts';

/** The ground that the parts share. */
export type Base = {
  readonly db: Database;
  /** Something changed: rings here at once and elsewhere soon. */
  touch(topic: Topic): void;
  /** Rings here only. */
  ring(topic: Topic): void;
  /** A bell that other processes ring too; whoever waits at it looks by himself after a while, should one not be heard. */
  hang(topic: Topic): Bell;
  /** What else is told on a channel; to be said before anything is heard. */
  readonly channels: Map<string, (payload: string | undefined) => void>;
  /** Hears what the others tell from now on. */
  attend(): void;
  close(): Promise<void>;
};

const channel = 'fairlead';
/** What changes within so many milliseconds is told to the others at once. */
const tellMs = 10;
/** A message may be 8,000 bytes long. */
const mostBytes = 7000;

/** Opens the ground of a store; nothing is sent yet. */
export async function openBase(url: string): Promise<Base> {
  const db = await openDatabase(url);
  const bells = newBells();
  let touched = new Set<string>();
  let telling: Promise<void> | undefined;
  let ear: Ear | undefined;

  /** Not within the change itself: a message in a transaction makes all commits of the database wait for each other. */
  async function tell(): Promise<void> {
    while (touched.size > 0) {
      const topics = [...touched].join(',');
      touched = new Set();
      const said = topics.length > mostBytes ? '*' : topics;
      await db.all('SELECT pg_notify($1, $2)', [channel, said], { patienceMs: 0 }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, tellMs));
    }
    telling = undefined;
  }

  function hear(topics = '*'): void {
    if (topics === '*') return bells.ringAll();
    for (const topic of topics.split(',')) bells.ring(topic);
  }

  const channels: Base['channels'] = new Map([[channel, hear]]);
  const attend = (): void => void (ear ??= listen(db.url, channels));

  return {
    db,
    ring: (topic) => bells.ring(topic),
    touch(topic) {
      bells.ring(topic);
      touched.add(topic);
      telling ??= tell();
    },
    channels,
    attend,
    hang(topic) {
      attend();
      return bells.hang(topic);
    },
    async close() {
      if (db.isClosed) return;
      if (telling) await noLonger(partingMs, telling);
      bells.close();
      await Promise.all([ear?.close(), db.close()]);
    },
  };
}
