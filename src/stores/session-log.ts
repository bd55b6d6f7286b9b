// Session log of a database store: reading and following along a branch, and the open and closed states of a writer and a reader.
import type { Event, Log } from '../core/index.ts';
import { damagedEventError } from './event-row.ts';
import { closedError, readOnlyError } from './store-errors.ts';
import type { Waiter } from './waiters.ts';

/** A session in the database. */
export type SessionRow = {
  readonly key: number;
  readonly session: string;
  /** The seq of the last event; 0 if there is none. */
  readonly seq: number;
  /** The id of the last event. */
  readonly head: string | null;
  /** Grows each time a writer opens the session: an append with an older number is refused. */
  readonly fence: number;
};

/** Events of a session from one seq to another, both included. */
export type SeqRange = { readonly from: number; readonly to: number };

/** The statements of a store on the events of one session. */
export type EventTable = {
  readonly session: string;
  /** The seq of an event, or of the last one; 0 if the session is empty. */
  findEnd(at: string | undefined): number | Promise<number>;
  /** The ranges that lead from the root, or from the last epoch with a baseline, to an event. */
  branch(end: number, fromEpoch: boolean): readonly SeqRange[] | Promise<readonly SeqRange[]>;
  /** The next events of a range: at least one if there is any. */
  batch(from: number, to: number): readonly Event[] | Promise<readonly Event[]>;
  /** Registers for changes of the session. */
  addWaiter(): Waiter;
  /** How often a follower reads without being notified, in milliseconds; never if undefined. */
  readonly pollMs?: number;
  isClosed(): boolean;
};

/** Reads and follows a session. */
export function createLogReader(table: EventTable): Pick<Log, 'read' | 'follow'> {
  async function batch(from: number, to: number): Promise<readonly Event[]> {
    const events = await table.batch(from, to);
    const gap = events.findIndex((event, i) => event.seq !== from + i);
    if (gap >= 0) throw damagedEventError(table.session, from + gap, 'is missing');
    return events;
  }

  return {
    async *read({ at, from = 'root' } = {}) {
      const end = await table.findEnd(at);
      if (end === 0) return;
      for (const range of await table.branch(end, from === 'epoch')) {
        for (let start = range.from; start <= range.to;) {
          const events = await batch(start, range.to);
          if (events.length === 0) throw damagedEventError(table.session, start, 'is missing');
          yield events;
          start += events.length;
        }
      }
    },
    async *follow(from, signal) {
      const waiter = table.addWaiter();
      try {
        for (let last = from; !signal.aborted && !table.isClosed();) {
          const events = await batch(last + 1, Number.MAX_SAFE_INTEGER);
          for (const event of events) {
            if (signal.aborted) return;
            last = event.seq;
            yield event;
          }
          if (events.length === 0 && !table.isClosed()) await waiter.wait({ signal, ms: table.pollMs });
        }
      } finally {
        waiter.remove();
      }
    },
  };
}

/** What a log of a database store is made of. */
export type SessionLogParts = {
  readonly session: string;
  /** Creates the reading half; it stops following once `isClosed` returns true. */
  readonly createReader: (isClosed: () => boolean) => Pick<Log, 'read' | 'follow'>;
  /** Wakes the followers of the session in this process. */
  readonly notify: () => void;
};

/** A log that appends. `release` gives the session up for other writers. */
export function createWriterLog(
  { session, createReader, notify }: SessionLogParts,
  append: Log['append'],
  release: () => Promise<void>,
): Log {
  let closed: Promise<void> | undefined;
  return {
    ...createReader(() => closed !== undefined),
    append: (...args) => (closed ? Promise.reject(closedError(`Session ${session}`)) : append(...args)),
    close() {
      closed ??= release();
      notify();
      return closed;
    },
  };
}

/** A log that only reads. */
export function createReaderLog({ session, createReader, notify }: SessionLogParts): Log {
  let closed = false;
  return {
    ...createReader(() => closed),
    append: () => Promise.reject(readOnlyError(`Session ${session}`)),
    async close() {
      closed = true;
      notify();
    },
  };
}
