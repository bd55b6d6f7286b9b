// Events in database rows: creates them for an append, and validates them when they are read.
import { FairleadError, upcastEvent, type Event, type Fact, isObject, sessionLabelsKey } from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';
import { eventShapeError } from './validate-event.ts';

/** An event in the database; `fact` is JSON. */
export type EventRow = {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly time: string;
  readonly fact: string;
};

/** The event of a row; throws `store/damaged` if the row holds none. */
export function parseEventRow(session: string, { seq, id, parent, time, fact }: EventRow): Event {
  const value = upcastEvent(tryParseJson(fact));
  const problem = eventShapeError(value);
  if (problem !== undefined) throw damagedEventError(session, seq, problem);
  return { ...(value as Fact), seq, id, parent, time };
}

/** An event that is missing or not valid; `problem` completes the sentence. */
export const damagedEventError = (session: string, seq: number, problem: string): FairleadError =>
  new FairleadError('store/damaged', `Event ${seq} of session ${session} ${problem}.`, {
    blame: 'store',
    hint: 'Restore a copy of the store, or continue with another session.',
  });

/** The seq that an event id begins with, so that no index is needed to find the event; undefined if the id has none. */
export function parseEventSeq(id: string): number | undefined {
  const seq = Number.parseInt(id, 36);
  return Number.isSafeInteger(seq) ? seq : undefined;
}

/** Where new events are appended: after which seq, following which event, and the suffix that makes their ids unique. */
export type AppendPosition = { readonly after: number; readonly parent: string | null; readonly suffix: string };

/** The events of an append, each following the one before it. */
export function createEvents(
  facts: readonly Fact[],
  { after, parent: first, suffix }: AppendPosition,
): readonly Event[] {
  const time = new Date().toISOString();
  let parent = first;
  return facts.map((fact, i): Event => {
    const seq = after + i + 1;
    const event = { ...fact, seq, id: `${seq.toString(36)}.${suffix}`, parent, time };
    parent = event.id;
    return event;
  });
}

/** The fact of an event as JSON, without the columns that the row has of its own. */
export function serializeFact({ seq: _seq, id: _id, parent: _parent, time: _time, ...fact }: Event): string {
  return JSON.stringify(fact);
}

/** Whether a session can be read from this event on: it starts an epoch with a baseline. */
export const isEpochStart = (event: Event): boolean => event.type === 'epoch-started' && Boolean(event.baseline);

/** The name or title that these events give their session; null if they give none. */
export function findSessionName(events: readonly Event[]): string | null {
  const names = events.flatMap((event) => {
    if (event.type === 'session-started') return event.name ?? [];
    if (event.type !== 'annotation-added' || event.key !== sessionLabelsKey || !isObject(event.value)) return [];
    const { title } = event.value;
    return typeof title === 'string' && title !== '' ? title : [];
  });
  return names.at(-1) ?? null;
}
