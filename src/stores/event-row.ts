// The row that a database keeps of an event, looked at before it is believed.
import { FairleadError, upcastEvent, type Event, type Fact } from '../core/index.ts';
import { eventShapeError } from './validate-event.ts';

/** An event as its row says; `fact` is JSON. */
export type EventRow = {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly time: string;
  readonly fact: string;
};

/** An event is looked at before it is believed: a database may come from anywhere. */
export function parseEventRow(session: string, { seq, id, parent, time, fact }: EventRow): Event {
  let value: unknown;
  try {
    value = upcastEvent(JSON.parse(fact));
  } catch {
    throw damagedEventError(session, seq, 'is not JSON');
  }
  const flaw = eventShapeError(value);
  if (flaw !== undefined) throw damagedEventError(session, seq, flaw);
  return { ...(value as Fact), seq, id, parent, time };
}

/** An event that cannot be believed, or is not there. */
export const damagedEventError = (session: string, seq: number, flaw: string): FairleadError =>
  new FairleadError('store/damaged', `Event ${seq} of session ${session} ${flaw}.`, {
    blame: 'store',
    hint: 'Put a copy of the store in its place, or go on with another session.',
  });

/** The seq in an id, if it can be one: an id begins with its seq, so that no index is needed to find it. */
export function parseEventSeq(id: string): number | undefined {
  const seq = Number.parseInt(id, 36);
  return Number.isSafeInteger(seq) ? seq : undefined;
}
