// Adds events to a session in one statement, which checks the fence and the tail; where its answer was lost, the tail tells.
import { randomBytes } from 'node:crypto';
import type { AppendOptions, Event, Fact, Log } from '../../core/index.ts';
import { conflict, fenced } from '../session-trouble.ts';
import type { Base } from './base.ts';
import { seqOf, type SessionRow } from './log.ts';

/** Gives the fence and the tail as they were before, and whether the events were added. Without sync it is safe from our death, not from the server's. */
const appendSql = (sync: boolean): string => `
WITH given AS (
  SELECT * FROM unnest($4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::boolean[], $9::text[])
    AS event (seq, id, parent, jump, epoch, fact)
), held AS (
  UPDATE fairlead.sessions SET seq = $10, head = $11, changed = $12, name = coalesce($13, name)
  WHERE key = $1 AND fence = $2 AND seq = $3 RETURNING key
), added AS (
  INSERT INTO fairlead.events (session, seq, id, parent, jump, epoch, time, fact)
  SELECT key, given.seq, id, parent, jump, epoch, $12, fact FROM held, given
)
SELECT fence, seq, (SELECT count(*) FROM held) AS added,
  (SELECT id FROM fairlead.events WHERE session = $1 AND events.seq = $3 + 1) AS next
  ${sync ? '' : ", set_config('synchronous_commit', 'off', true)"}
FROM fairlead.sessions WHERE key = $1`;
const sqls = { safe: appendSql(true), quick: appendSql(false) };

type Answer = { readonly fence: number; readonly seq: number; readonly added: number; readonly next: string | null };

/** Adds to a session that is held under a fence; any other number there means that others have taken it. */
export function appendTo(
  base: Base,
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
    const jump = above === head && above !== null ? null : above === null ? 0 : await seqOf(base, key, above);
    const events = place(after, facts, above);
    const tip = events.at(-1);
    const answer = await base.db.one<Answer>(options.settle === true ? sqls.safe : sqls.quick, [
      key,
      fence,
      after,
      events.map(({ seq }) => seq),
      events.map(({ id }) => id),
      events.map(({ parent }) => parent),
      events.map((_, i) => (i === 0 ? jump : null)),
      events.map((event) => (event.type === 'epoch-started' && event.baseline ? 'true' : null)),
      events.map(factOf),
      tip?.seq ?? after,
      tip?.id ?? head,
      tip?.time ?? new Date().toISOString(),
      nameIn(events),
    ]);
    if (answer?.added !== 1) {
      if (answer?.fence !== fence) throw fenced(session);
      // What is there is ours: it was added before, and the answer got lost.
      if (events[0] === undefined || answer.next !== events[0].id) throw conflict(after, answer.seq);
    }
    head = tip?.id ?? head;
    tail = tip?.seq ?? tail;
    base.touch(`session ${key}`);
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

function factOf({ seq: _seq, id: _id, parent: _parent, time: _time, ...fact }: Event): string {
  return JSON.stringify(fact);
}

function nameIn(events: readonly Event[]): string | null {
  const names = events.flatMap((event) => (event.type === 'session-started' ? (event.name ?? []) : []));
  return names.at(-1) ?? null;
}
