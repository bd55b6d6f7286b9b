// A session's events in the database: one fenced writer, read along any branch without looking at what is not asked for.
import { randomBytes } from 'node:crypto';
import type { AppendOptions, Event, Fact, Log } from '../../core/index.ts';
import { damagedEventError, parseEventRow, parseEventSeq, type EventRow } from '../event-row.ts';
import { appendConflictError, sessionFencedError, unknownEventError } from '../session-errors.ts';
import type { SqliteContext } from './context.ts';

/** A session as its row says. */
export type SessionRow = {
  readonly key: number;
  readonly session: string;
  readonly seq: number;
  readonly head: string | null;
  readonly fence: number;
  readonly holder: string | null;
};

/** A part of a session, from a seq to a seq. */
type SeqRange = { readonly from: number; readonly to: number };

/** Events are read so many at a time, or fewer where they are long. */
const maxBatchEvents = 256;
const maxBatchChars = 1024 * 1024;

const sessionByKeySql = 'SELECT key, session, seq, head, fence, holder FROM sessions WHERE key = ?';

/** A session to be read and followed. */
export function createSqliteLogReader(
  base: SqliteContext,
  { key, session }: SessionRow,
  isClosed: () => boolean,
): Pick<Log, 'read' | 'follow'> {
  /** From the last jump before an event back to the event that it follows, and so on to the root, or to the last epoch. */
  function path(at: number, fromEpoch: boolean): readonly SeqRange[] {
    const parts: SeqRange[] = [];
    for (let to = at; to > 0;) {
      const jump = base.one<{ seq: number; jump: number }>(
        'SELECT seq, jump FROM events WHERE session = ? AND seq <= ? AND jump IS NOT NULL ORDER BY seq DESC LIMIT 1',
        key,
        to,
      ) ?? { seq: 1, jump: 0 };
      // A path only ever leads back: one that does not would never end.
      if (jump.jump >= jump.seq) throw damagedEventError(session, jump.seq, 'follows an event that comes after it');
      const epoch = fromEpoch ? lastEpoch(jump.seq, to) : undefined;
      parts.push({ from: epoch ?? jump.seq, to });
      if (epoch !== undefined) break;
      to = jump.jump;
    }
    return parts.toReversed();
  }

  const lastEpoch = (from: number, to: number): number | undefined =>
    base.one<{ seq: number }>(
      'SELECT seq FROM events WHERE session = ? AND seq BETWEEN ? AND ? AND epoch IS NOT NULL ORDER BY seq DESC LIMIT 1',
      key,
      from,
      to,
    )?.seq;

  function batch(from: number, to: number): readonly Event[] {
    const sql =
      'SELECT seq, id, parent, time, fact FROM events WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?';
    const events: Event[] = [];
    let chars = 0;
    for (const row of base.each<EventRow>(sql, key, from, to, maxBatchEvents)) {
      if (row.seq !== from + events.length) throw damagedEventError(session, from + events.length, 'is missing');
      events.push(parseEventRow(session, row));
      chars += row.fact.length;
      if (chars > maxBatchChars) break;
    }
    return events;
  }

  return {
    async *read({ at, from = 'root' } = {}) {
      const parts = base.read(() => {
        const end = at === undefined ? base.one<SessionRow>(sessionByKeySql, key)?.seq : findEventSeq(base, key, at);
        return end === undefined ? [] : path(end, from === 'epoch');
      });
      for (const part of parts) {
        for (let start = part.from; start <= part.to;) {
          const events = base.read(() => batch(start, part.to));
          if (events.length === 0) throw damagedEventError(session, start, 'is missing');
          yield events;
          start = (events.at(-1)?.seq ?? part.to) + 1;
        }
      }
    },
    async *follow(from, signal) {
      for (let last = from; !signal.aborted && !isClosed();) {
        const events = base.read(() => batch(last + 1, Number.MAX_SAFE_INTEGER));
        for (const event of events) {
          if (signal.aborted) return;
          last = event.seq;
          yield event;
        }
        if (events.length === 0 && !isClosed()) await base.waiters.waitForChange(`session ${key}`, { signal });
      }
    },
  };
}

function findEventSeq(base: SqliteContext, key: number, id: string): number {
  const seq = parseEventSeq(id);
  const sql = 'SELECT id FROM events WHERE session = ? AND seq = ?';
  if (seq !== undefined && base.one<{ id: string }>(sql, key, seq)?.id === id) return seq;
  throw unknownEventError(id);
}

/** Adds to a session that is held under a fence; any other number there means that others have taken it. */
export function createSqliteAppender(base: SqliteContext, { key, session }: SessionRow, fence: number): Log['append'] {
  const mark = randomBytes(3).toString('hex');

  function place(facts: readonly Fact[], row: SessionRow, above: string | null): readonly Event[] {
    const time = new Date().toISOString();
    let parent = above;
    return facts.map((fact, i): Event => {
      const seq = row.seq + i + 1;
      const event = { ...fact, seq, id: `${seq.toString(36)}.${mark}`, parent, time };
      parent = event.id;
      return event;
    });
  }

  function add(after: number, facts: readonly Fact[], options: AppendOptions): readonly Event[] {
    const row = base.one<SessionRow>(sessionByKeySql, key);
    if (row?.fence !== fence) throw sessionFencedError(session);
    if (row.seq !== after) throw appendConflictError(after, row.seq);
    const above = options.parent ?? row.head;
    const jump = above === row.head && above !== null ? null : above === null ? 0 : findEventSeq(base, key, above);
    const events = place(facts, row, above);
    for (const [i, event] of events.entries()) insert(key, event, i === 0 ? jump : null);
    const last = events.at(-1);
    if (!last) return [];
    base.run('UPDATE sessions SET seq = ?, head = ?, changed = ? WHERE key = ?', last.seq, last.id, last.time, key);
    name(events);
    base.notify(`session ${key}`);
    return events;
  }

  function insert(session: number, { seq, id, parent, time, ...fact }: Event, jump: number | null): void {
    const epoch = fact.type === 'epoch-started' && fact.baseline ? 1 : null;
    base.run(
      'INSERT INTO events (session, seq, id, parent, jump, epoch, time, fact) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      session,
      seq,
      id,
      parent,
      jump,
      epoch,
      time,
      JSON.stringify(fact),
    );
  }

  function name(events: readonly Event[]): void {
    for (const event of events)
      if (event.type === 'session-started' && event.name !== undefined)
        base.run('UPDATE sessions SET name = ? WHERE key = ?', event.name, key);
  }

  return (after, facts, options = {}) =>
    base.write(() => add(after, facts, options), { settle: options.durable === true });
}
