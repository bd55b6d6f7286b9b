// One line of a session file: an event as readable JSON, and the hash that ties it to the line before it.
import { hash } from 'node:crypto';
import { isObject, oldEventTypes, upcastEvent, type Event, type Fact } from '../../core/index.ts';

/** The version of the format that this program writes. */
export const formatVersion = 1;

/** The first line of a session file. */
export type SessionFileHeader = { readonly version: number; readonly session: string; readonly created: string };

/** Where an event stands. */
export type EventPosition = Pick<Event, 'seq' | 'id' | 'parent' | 'time'>;

const hashFieldStart = ',"hash":"';
const hashLength = 22;
const hashFieldLength = hashFieldStart.length + hashLength + 2;

/** The hash of a line: of the hash before it and the line's text up to its own. On text, so that checking never re-serialises. */
export const hashLine = (link: string, body: string): string =>
  hash('sha256', link + body, 'base64url').slice(0, hashLength);

/** A line's text up to its hash, closed with that hash. */
export const withHash = (body: string, ownHash: string): string => `${body}${hashFieldStart}${ownHash}"}`;

/** The first line of a file, and the hash that the first event is tied to. */
export function formatHeaderLine(session: string, created: string): { readonly text: string; readonly hash: string } {
  const body = `{"fairlead":${formatVersion},"session":${stringifyOneLine(session)},"created":"${created}"`;
  const ownHash = hashLine('', body);
  return { text: `${withHash(body, ownHash)}\n`, hash: ownHash };
}

/** The header that a line holds, if it holds one. */
export function parseHeader(text: string): SessionFileHeader | undefined {
  const value = tryParseJson(text);
  if (!isObject(value) || typeof value['fairlead'] !== 'number') return undefined;
  const { fairlead: version, session, created } = value;
  return {
    version,
    session: typeof session === 'string' ? session : '',
    created: typeof created === 'string' ? created : '',
  };
}

/** The text of an event up to its hash. */
export function formatEventBody(fact: Fact, { seq, id, parent, time }: EventPosition): string {
  const above = parent === null ? 'null' : stringifyOneLine(parent);
  return `{"seq":${seq},"id":"${id}","parentId":${above},"time":"${time}",${stringifyOneLine(withoutPosition(fact)).slice(1, -1)}`;
}

/** A fact with its type first and without a place: an event handed over as a fact gets a new one. */
function withoutPosition(fact: Fact): Fact {
  if ('seq' in fact || 'id' in fact || 'parent' in fact || 'time' in fact) {
    const { seq: _seq, id: _id, parent: _parent, time: _time, ...rest } = fact as Event;
    return withoutPosition(rest);
  }
  return Object.keys(fact)[0] === 'type' ? fact : Object.assign({ type: fact.type }, fact);
}

/** JSON that is one line to every program: the line breaks that JSON leaves alone are escaped too. */
function stringifyOneLine(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\u2028') && !text.includes('\u2029') && !text.includes('\u0085')) return text;
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029').replaceAll('\u0085', '\\u0085');
}

/** The hash that the line from `start` to `end` says it has, if it ends as our lines do. */
export function readStoredHash(text: string, start: number, end: number): string | undefined {
  if (
    end - start < hashFieldLength ||
    !text.startsWith(hashFieldStart, end - hashFieldLength) ||
    !text.startsWith('"}', end - 2)
  )
    return undefined;
  return text.slice(end - hashLength - 2, end - 2);
}

/** The hash that this line should have after a line with that hash. */
export const computeHashAt = (link: string, text: string, start: number, end: number): string =>
  hashLine(link, text.slice(start, end - hashFieldLength));

/** The line with another hash in the place of its own. */
export const replaceHash = (text: string, ownHash: string): string =>
  withHash(text.slice(0, -hashFieldLength), ownHash);

/** A line's place as its text states it; `key` and `rest` are where `"parentId"` and what follows it begin. */
export type LineEnvelope = {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly key: number;
  readonly rest: number;
};

/** The place of a line as we write it, read without parsing; nothing for any other text. */
export function readEnvelope(text: string, start: number): LineEnvelope | undefined {
  if (!text.startsWith('{"seq":', start)) return undefined;
  const afterSeq = text.indexOf(',"id":"', start + 7);
  const seq = Number(text.slice(start + 7, afterSeq));
  if (afterSeq < 0 || !Number.isSafeInteger(seq)) return undefined;
  const afterId = text.indexOf('"', afterSeq + 7);
  const id = text.slice(afterSeq + 7, afterId);
  const value = afterId + 13;
  if (afterId < 0 || id.includes('\\') || !text.startsWith(',"parentId":', afterId + 1)) return undefined;
  if (text.startsWith('null,', value)) return { seq, id, parent: null, key: afterId + 2, rest: value + 5 };
  const end = text.startsWith('"', value) ? text.indexOf('"', value + 1) : -1;
  if (end < 0 || !text.startsWith(',', end + 1)) return undefined;
  const parent = text.slice(value + 1, end);
  return parent.includes('\\') ? undefined : { seq, id, parent, key: afterId + 2, rest: end + 2 };
}

const timeLength = '"time":"2000-01-01T00:00:00.000Z",'.length;

/** Whether a line as we write it holds a fact of this type. */
export const hasEventType = (type: Fact['type'], text: string, envelope: LineEnvelope): boolean =>
  text.startsWith(`"type":"${type}"`, envelope.rest + timeLength) ||
  (oldEventTypes[type] !== undefined && text.startsWith(`"type":"${oldEventTypes[type]}"`, envelope.rest + timeLength));

/** The time a line as we write it states. */
export const readEventTime = (text: string, envelope: LineEnvelope): string =>
  text.slice(envelope.rest + 8, envelope.rest + 32);

/** The event of a line that was judged to hold one; what a person's line lacks follows from the event before it. */
export function parseEventLine(text: string, start: number, end: number, before?: Event): Event {
  const envelope = readEnvelope(text, start);
  if (!envelope || !isIsoTime(readEventTime(text, envelope)) || readStoredHash(text, start, end) === undefined)
    return parseLooseEvent(upcastEvent(tryParseJson(text.slice(start, end))), before);
  // Parsing what follows the place and adding the place is cheaper than renaming a key, in the text or in the object.
  const event = JSON.parse(`{${text.slice(envelope.rest, end - hashFieldLength)}}`) as {
    -readonly [key in keyof EventPosition]: EventPosition[key];
  };
  event.seq = envelope.seq;
  event.id = envelope.id;
  event.parent = envelope.parent;
  return upcastEvent(event) as Event;
}

function parseLooseEvent(value: unknown, before: Event | undefined): Event {
  const { parentId, hash: _hash, ...rest } = value as { parentId?: unknown; hash?: unknown };
  const given = rest as Partial<Event>;
  return {
    ...given,
    seq: Number.isSafeInteger(given.seq) ? given.seq : (before?.seq ?? 0),
    id: typeof given.id === 'string' ? given.id : '',
    parent: typeof parentId === 'string' ? parentId : (before?.id ?? null),
    time: isIsoTime(given.time) ? given.time : (before?.time ?? new Date().toISOString()),
  } as Event;
}

const isIsoTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);

/** A text as JSON, or nothing if it is not. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
