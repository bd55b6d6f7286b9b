// Appends events in one statement that checks the fence and the last seq. If its reply is lost, the last event shows whether it was executed.
import { randomBytes } from 'node:crypto';
import type { AppendOptions, Event, Fact, Log } from '../../core/index.ts';
import { createEvents, findSessionName, isEpochStart, serializeFact } from '../event-row.ts';
import type { SessionRow } from '../session-log.ts';
import { appendConflictError, fencedError } from '../store-errors.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import { findEventSeq } from './log.ts';

/** An append to one session, whose last seq must be `after`. */
type SessionAppend = {
  readonly key: number;
  readonly fence: number;
  readonly after: number;
  readonly head: string | null;
  readonly events: readonly Event[];
  /** The seq that the first event follows, if it does not follow the last event. */
  readonly jump: number | null;
  readonly facts: readonly string[];
  readonly durable: boolean;
};

/** The fence and the last seq before the append, whether the events were added, and the id of the event after `after`. */
type AppendResult = {
  readonly ord: number;
  readonly fence: number;
  readonly seq: number;
  readonly added: boolean;
  readonly next: string | null;
};

/** Appends to each session whose fence and last seq match. Without sync it survives a crash of this process, not one of the server. */
const appendSql = (sync: boolean): string => `
WITH requests AS (
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[])
    AS request (ord, key, fence, after, seq, head, changed, name)
), updated AS (
  UPDATE fairlead.sessions AS old SET seq = requests.seq, head = requests.head, changed = requests.changed, name = coalesce(requests.name, old.name)
  FROM requests WHERE old.key = requests.key AND old.fence = requests.fence AND old.seq = requests.after
  RETURNING ord, old.key
), inserted AS (
  INSERT INTO fairlead.events (session, seq, id, parent, jump, epoch, time, fact)
  SELECT updated.key, event.seq, id, parent, jump, epoch, time, fact
  FROM unnest($9::integer[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::boolean[], $15::text[], $16::text[])
    AS event (ord, seq, id, parent, jump, epoch, time, fact) JOIN updated USING (ord)
)
SELECT requests.ord, session.fence, session.seq, updated.ord IS NOT NULL AS added,
  (SELECT id FROM fairlead.events AS event WHERE event.session = requests.key AND event.seq = requests.after + 1) AS next
  ${sync ? '' : ", set_config('synchronous_commit', 'off', true)"}
FROM requests JOIN fairlead.sessions AS session ON session.key = requests.key LEFT JOIN updated ON updated.ord = requests.ord`;
const durableAppendSql = appendSql(true);
const quickAppendSql = appendSql(false);

/** So many characters weigh as much as one more session. */
const charsPerWeight = 20_000;
const weighAppend = ({ facts }: SessionAppend): number =>
  1 + facts.reduce((sum, fact) => sum + fact.length, 0) / charsPerWeight;

/** Appends to a session; calls at the same time share a statement. */
export type SendAppend = (append: SessionAppend) => Promise<AppendResult | undefined>;

/** Creates the function that appends to the sessions of a store. */
export const createAppendBatcher = ({ db }: PostgresContext): SendAppend =>
  createBatcher(async (appends: readonly SessionAppend[]) => {
    const numbered = appends.map((append, ord) => ({ ...append, ord, last: append.events.at(-1) }));
    const now = new Date().toISOString();
    const events = numbered.flatMap(({ ord, events: each, facts, jump }) =>
      each.map((event, i) => ({ ord, event, fact: facts[i] ?? '', jump: i === 0 ? jump : null })),
    );
    const rows = await db.all<AppendResult>(
      appends.some(({ durable }) => durable) ? durableAppendSql : quickAppendSql,
      [
        numbered.map(({ ord }) => ord),
        numbered.map(({ key }) => key),
        numbered.map(({ fence }) => fence),
        numbered.map(({ after }) => after),
        numbered.map(({ after, last }) => last?.seq ?? after),
        numbered.map(({ head, last }) => last?.id ?? head),
        numbered.map(({ last }) => last?.time ?? now),
        numbered.map(({ events: each }) => findSessionName(each)),
        events.map(({ ord }) => ord),
        events.map(({ event }) => event.seq),
        events.map(({ event }) => event.id),
        events.map(({ event }) => event.parent),
        events.map(({ jump }) => jump),
        events.map(({ event }) => (isEpochStart(event) ? 'true' : null)),
        events.map(({ event }) => event.time),
        events.map(({ fact }) => fact),
      ],
    );
    const results = new Map(rows.map((row) => [row.ord, row]));
    return numbered.map(({ ord }) => results.get(ord));
  }, weighAppend);

/** Appends to a session that is held under a fence; another fence in the row means that another writer has taken it over. */
export function createPostgresAppender(
  context: PostgresContext,
  send: SendAppend,
  { key, session, fence, head: firstHead, seq: firstSeq }: SessionRow,
): { readonly append: Log['append']; readonly lastSeq: () => number } {
  let head = firstHead;
  let lastSeq = firstSeq;
  let pending: Promise<unknown> = Promise.resolve();

  async function add(after: number, facts: readonly Fact[], options: AppendOptions): Promise<readonly Event[]> {
    const parent = options.parent ?? head;
    const jump =
      parent === head && parent !== null ? null : parent === null ? 0 : await findEventSeq(context, key, parent);
    // The suffix is unique to this append: if the reply is lost, it shows whether the events were added.
    const events = createEvents(facts, { after, parent, suffix: randomBytes(4).toString('hex') });
    const durable = options.durable === true;
    const result = await send({ key, fence, after, head, events, jump, facts: events.map(serializeFact), durable });
    if (!result?.added) {
      if (result?.fence !== fence) throw fencedError(`Session ${session}`);
      // If the next event is ours, an earlier try has added it and its reply was lost.
      if (events[0] === undefined || result.next !== events[0].id) throw appendConflictError(after, result.seq);
    }
    head = events.at(-1)?.id ?? head;
    lastSeq = events.at(-1)?.seq ?? lastSeq;
    context.notify(`session ${key}`);
    return events;
  }

  // One after the other: each append follows the head that the one before it left.
  const append: Log['append'] = (after, facts, options = {}) => {
    const own = pending.then(() => add(after, facts, options));
    pending = own.catch(() => {});
    return own;
  };
  return { append, lastSeq: () => lastSeq };
}
