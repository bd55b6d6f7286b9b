// Adds events to a session in one statement, which checks the fence and the tail; where its answer was lost, the tail tells.
import { randomBytes } from 'node:crypto';
import type { AppendOptions, Event, Fact, Log } from '../../core/index.ts';
import { appendConflictError, sessionFencedError } from '../session-errors.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import { findEventSeq, type SessionRow } from './log.ts';

/** What is to be added to one session, whose tail must be `after`. */
type SessionAppend = {
  readonly key: number;
  readonly fence: number;
  readonly after: number;
  readonly head: string | null;
  readonly events: readonly Event[];
  /** Where the first event does not follow the tail: what it follows. */
  readonly jump: number | null;
  readonly facts: readonly string[];
  readonly settle: boolean;
};

/** The fence and the tail as they were before, and whether the events were added. */
type AppendResult = {
  readonly ord: number;
  readonly fence: number;
  readonly seq: number;
  readonly added: boolean;
  readonly next: string | null;
};

/** Adds to each session whose fence and tail are as said. Without sync it is safe from our death, not from the server's. */
const appendSql = (sync: boolean): string => `
WITH given AS (
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[])
    AS addition (ord, key, fence, after, seq, head, changed, name)
), held AS (
  UPDATE fairlead.sessions AS old SET seq = given.seq, head = given.head, changed = given.changed, name = coalesce(given.name, old.name)
  FROM given WHERE old.key = given.key AND old.fence = given.fence AND old.seq = given.after
  RETURNING ord, old.key
), added AS (
  INSERT INTO fairlead.events (session, seq, id, parent, jump, epoch, time, fact)
  SELECT held.key, event.seq, id, parent, jump, epoch, time, fact
  FROM unnest($9::integer[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::boolean[], $15::text[], $16::text[])
    AS event (ord, seq, id, parent, jump, epoch, time, fact) JOIN held USING (ord)
)
SELECT given.ord, session.fence, session.seq, held.ord IS NOT NULL AS added,
  (SELECT id FROM fairlead.events AS event WHERE event.session = given.key AND event.seq = given.after + 1) AS next
  ${sync ? '' : ", set_config('synchronous_commit', 'off', true)"}
FROM given JOIN fairlead.sessions AS session ON session.key = given.key LEFT JOIN held ON held.ord = given.ord`;
const appendSqls = { safe: appendSql(true), quick: appendSql(false) };

/** So many letters weigh as much as one more session. */
const charsPerWeight = 20_000;
const weighAppend = ({ facts }: SessionAppend): number =>
  1 + facts.reduce((sum, fact) => sum + fact.length, 0) / charsPerWeight;

/** Adds to sessions; those who add at the same time share a statement. */
export type SendAppend = (addition: SessionAppend) => Promise<AppendResult | undefined>;

/** The one way to add to the sessions of a store. */
export const createAppendBatcher = ({ db }: PostgresContext): SendAppend =>
  createBatcher(async (additions: readonly SessionAppend[]) => {
    const numbered = additions.map((addition, ord) => ({ ...addition, ord, tip: addition.events.at(-1) }));
    const now = new Date().toISOString();
    const events = numbered.flatMap(({ ord, events: each, facts, jump }) =>
      each.map((event, i) => ({ ord, event, fact: facts[i] ?? '', jump: i === 0 ? jump : null })),
    );
    const rows = await db.all<AppendResult>(
      additions.some(({ settle }) => settle) ? appendSqls.safe : appendSqls.quick,
      [
        numbered.map(({ ord }) => ord),
        numbered.map(({ key }) => key),
        numbered.map(({ fence }) => fence),
        numbered.map(({ after }) => after),
        numbered.map(({ after, tip }) => tip?.seq ?? after),
        numbered.map(({ head, tip }) => tip?.id ?? head),
        numbered.map(({ tip }) => tip?.time ?? now),
        numbered.map(({ events: each }) => findSessionName(each)),
        events.map(({ ord }) => ord),
        events.map(({ event }) => event.seq),
        events.map(({ event }) => event.id),
        events.map(({ event }) => event.parent),
        events.map(({ jump }) => jump),
        events.map(({ event }) => (event.type === 'epoch-started' && event.baseline ? 'true' : null)),
        events.map(({ event }) => event.time),
        events.map(({ fact }) => fact),
      ],
    );
    const answers = new Map(rows.map((row) => [row.ord, row]));
    return numbered.map(({ ord }) => answers.get(ord));
  }, weighAppend);

/** Adds to a session that is held under a fence; any other number there means that others have taken it. */
export function createPostgresAppender(
  base: PostgresContext,
  send: SendAppend,
  { key, session, fence, head: first, seq: firstSeq }: SessionRow,
): { readonly append: Log['append']; readonly tail: () => number } {
  let head = first;
  let tail = firstSeq;
  let last: Promise<unknown> = Promise.resolve();

  function place(after: number, facts: readonly Fact[], above: string | null): readonly Event[] {
    const time = new Date().toISOString();
    // An id is this append's alone: where its answer got lost, it tells whether the events were added.
    const mark = randomBytes(4).toString('hex');
    let parent = above;
    return facts.map((fact, i): Event => {
      const seq = after + i + 1;
      const event = { ...fact, seq, id: `${seq.toString(36)}.${mark}`, parent, time };
      parent = event.id;
      return event;
    });
  }

  async function add(after: number, facts: readonly Fact[], options: AppendOptions): Promise<readonly Event[]> {
    const above = options.parent ?? head;
    const jump = above === head && above !== null ? null : above === null ? 0 : await findEventSeq(base, key, above);
    const events = place(after, facts, above);
    const tip = events.at(-1);
    const texts = events.map(serializeFact);
    const answer = await send({
      key,
      fence,
      after,
      head,
      events,
      jump,
      facts: texts,
      settle: options.durable === true,
    });
    if (!answer?.added) {
      if (answer?.fence !== fence) throw sessionFencedError(session);
      // What is there is ours: it was added before, and the answer got lost.
      if (events[0] === undefined || answer.next !== events[0].id) throw appendConflictError(after, answer.seq);
    }
    head = tip?.id ?? head;
    tail = tip?.seq ?? tail;
    base.notify(`session ${key}`);
    return events;
  }

  // One after the other: each follows the head that the one before it left.
  const append: Log['append'] = (after, facts, options = {}) => {
    const mine = last.then(() => add(after, facts, options));
    last = mine.catch(() => {});
    return mine;
  };
  return { append, tail: () => tail };
}

function serializeFact({ seq: _seq, id: _id, parent: _parent, time: _time, ...fact }: Event): string {
  return JSON.stringify(fact);
}

function findSessionName(events: readonly Event[]): string | null {
  const names = events.flatMap((event) => (event.type === 'session-started' ? (event.name ?? []) : []));
  return names.at(-1) ?? null;
}
