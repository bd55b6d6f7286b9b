// Says whether evidence is independent of the author of an answer: what the author wrote itself proves nothing.
import type { Event, Json } from '../../core/index.ts';
import type { Evidence, VerifyContext } from '../types.ts';
import { normalizeText } from './source-text.ts';

/** Whether evidence may support a claim exactly: not the words of a model, not what the author could choose, and of events only results of tools. */
export function isIndependent({ source, isChosen }: Evidence, { events }: VerifyContext): boolean {
  if (isChosen === true || source.type === 'model' || source.type === 'computed') return false;
  if (source.type !== 'event' || !events) return true;
  const event = findEvent(events, source.seq);
  return event === undefined || event.type === 'tool-ended' || event.type === 'input-received';
}

/** Returns the event with a number; the events are in the order of their numbers. */
export function findEvent(events: readonly Event[], seq: number): Event | undefined {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return events[low]?.seq === seq ? events[low] : undefined;
}

type AuthoredTexts = { readonly texts: readonly string[]; readonly isComplete: boolean };

const authoredTexts = new WeakMap<readonly Event[], AuthoredTexts>();
const maxAuthoredChars = 5_000_000;

/** Whether the author wrote a text into a tool call of the session, such as a file that it read again later; also if its calls are too large to tell. */
export function isAuthored(normalText: string, { events }: VerifyContext): boolean {
  if (!events) return false;
  let authored = authoredTexts.get(events);
  if (!authored) {
    authored = collectAuthored(events);
    authoredTexts.set(events, authored);
  }
  return !authored.isComplete || authored.texts.some((text) => text.includes(normalText));
}

function collectAuthored(events: readonly Event[]): AuthoredTexts {
  const texts: string[] = [];
  let chars = 0;
  for (const event of events) {
    if (event.type !== 'turn-ended') continue;
    for (const part of event.message.parts) {
      if (part.type !== 'tool-call') continue;
      for (const text of stringsOf(part.input)) {
        chars += text.length;
        if (chars > maxAuthoredChars) return { texts, isComplete: false };
        texts.push(normalizeText(text).text);
      }
    }
  }
  return { texts, isComplete: true };
}

/** The texts inside a JSON value. */
export function* stringsOf(value: Json): Generator<string> {
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') yield next;
    else if (next !== null && typeof next === 'object') for (const each of Object.values(next)) pending.push(each);
  }
}
