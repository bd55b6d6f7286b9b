// Session log in SQLite: appends under a fence, and reads along any branch without touching events outside it.
import { randomBytes } from 'node:crypto';
import type { AppendOptions, Event, Fact, Log } from '../../core/index.ts';
import {
  createEvents,
  damagedEventError,
  findSessionName,
  isEpochStart,
  parseEventRow,
  parseEventSeq,
  serializeFact,
  type EventRow,
} from '../event-row.ts';
import { createLogReader, type SeqRange, type SessionRow } from '../session-log.ts';
import { appendConflictError, fencedError, unknownEventError } from '../store-errors.ts';
import type { SqliteContext } from './context.ts';

/** A batch of events is limited by count and by size. */
const maxBatchEvents = 256;
const maxBatchChars = 1024 * 1024;

const sessionByKeySql = 'SELECT key, session, seq, head, fence FROM sessions WHERE key = ?';
const lastJumpSql =
  'SELECT seq, jump FROM events WHERE session = ? AND seq <= ? AND jump IS NOT NULL ORDER BY seq DESC LIMIT 1';
const lastEpochSql =
  'SELECT seq FROM events WHERE session = ? AND seq BETWEEN ? AND ? AND epoch IS NOT NULL ORDER BY seq DESC LIMIT 1';
const batchSql =
  'SELECT seq, id, parent, time, fact FROM events WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?';
const insertSql =
  'INSERT INTO events (session, seq, id, parent, jump, epoch, time, fact) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';

/** Reads and follows a session. */
export function createSqliteLogReader(
  context: SqliteContext,
  { key, session }: SessionRow,
  isClosed: () => boolean,
): Pick<Log, 'read' | 'follow'> {
  /** Goes back from the last jump before an event to the event that the jump follows, until the root or the last epoch. */
  function branch(end: number, fromEpoch: boolean): readonly SeqRange[] {
    const ranges: SeqRange[] = [];
    for (let to = end; to > 0;) {
      const { seq, jump } = context.one<{ seq: number; jump: number }>(lastJumpSql, key, to) ?? { seq: 1, jump: 0 };
      // A branch that leads forward would never end.
      if (jump >= seq) throw damagedEventError(session, seq, 'follows an event that comes after it');
      const epoch = fromEpoch ? context.one<{ seq: number }>(lastEpochSql, key, seq, to)?.seq : undefined;
      ranges.push({ from: epoch ?? seq, to });
      if (epoch !== undefined) break;
      to = jump;
    }
    return ranges.toReversed();
  }

  function batch(from: number, to: number): readonly Event[] {
    const events: Event[] = [];
    let chars = 0;
    for (const row of context.each<EventRow>(batchSql, key, from, to, maxBatchEvents)) {
      events.push(parseEventRow(session, row));
      chars += row.fact.length;
      if (chars > maxBatchChars) break;
    }
    return events;
  }

  return createLogReader({
    session,
    findEnd: (at) =>
      context.read(() =>
        at === undefined ? (context.one<SessionRow>(sessionByKeySql, key)?.seq ?? 0) : findEventSeq(context, key, at),
      ),
    branch: (end, fromEpoch) => context.read(() => branch(end, fromEpoch)),
    batch: (from, to) => context.read(() => batch(from, to)),
    addWaiter: () => context.waiters.add(`session ${key}`),
    isClosed: () => isClosed() || context.isClosed,
  });
}

function findEventSeq(context: SqliteContext, key: number, id: string): number {
  const seq = parseEventSeq(id);
  const sql = 'SELECT id FROM events WHERE session = ? AND seq = ?';
  if (seq !== undefined && context.one<{ id: string }>(sql, key, seq)?.id === id) return seq;
  throw unknownEventError(id);
}

/** Appends to a session that is held under a fence; another fence in the row means that another writer has taken it over. */
export function createSqliteAppender(context: SqliteContext, { key, session, fence }: SessionRow): Log['append'] {
  const suffix = randomBytes(3).toString('hex');

  function append(after: number, facts: readonly Fact[], options: AppendOptions): readonly Event[] {
    const row = context.one<SessionRow>(sessionByKeySql, key);
    if (row?.fence !== fence) throw fencedError(`Session ${session}`);
    if (row.seq !== after) throw appendConflictError(after, row.seq);
    const parent = options.parent ?? row.head;
    const jump =
      parent === row.head && parent !== null ? null : parent === null ? 0 : findEventSeq(context, key, parent);
    const events = createEvents(facts, { after, parent, suffix });
    for (const [i, event] of events.entries()) insert(event, i === 0 ? jump : null);
    const last = events.at(-1);
    if (!last) return [];
    const sql = 'UPDATE sessions SET seq = ?, head = ?, changed = ?, name = coalesce(?, name) WHERE key = ?';
    context.run(sql, last.seq, last.id, last.time, findSessionName(events), key);
    context.notify(`session ${key}`);
    return events;
  }

  function insert(event: Event, jump: number | null): void {
    const { seq, id, parent, time } = event;
    context.run(insertSql, key, seq, id, parent, jump, isEpochStart(event) ? 1 : null, time, serializeFact(event));
  }

  return (after, facts, options = {}) =>
    context.write(() => append(after, facts, options), { durable: options.durable === true });
}
