// Lines of a session file: an event as JSON, with a hash that chains it to the line before it.
import { hash } from 'node:crypto';
import { FairleadError, isObject, oldEventTypes, upcastEvent, type Event, type Fact } from '../../core/index.ts';
import { tryParseJson } from '../try-parse-json.ts';

/** The format version that this program writes. */
export const formatVersion = 1;

/** The first line of a session file. */
export type SessionFileHeader = { readonly version: number; readonly session: string; readonly created: string };

/** The position fields of an event. */
export type EventPosition = Pick<Event, 'seq' | 'id' | 'parent' | 'time'>;

const hashFieldStart = ',"hash":"';
const hashLength = 22;
const hashFieldLength = hashFieldStart.length + hashLength + 2;

/** The hash of a line: of the previous hash and the line's text before its own hash. Over text, so that a check never serialises again. */
export const hashLine = (link: string, body: string): string =>
  hash('sha256', link + body, 'base64url').slice(0, hashLength);

/** A line: its text before the hash, and the hash. */
export const withHash = (body: string, ownHash: string): string => `${body}${hashFieldStart}${ownHash}"}`;

/** The first line of a file, and the hash that the first event is chained to. */
export function formatHeaderLine(session: string, created: string): { readonly text: string; readonly hash: string } {
  const body = `{"fairlead":${formatVersion},"session":${stringifyOneLine(session)},"created":"${created}"`;
  const ownHash = hashLine('', body);
  return { text: `${withHash(body, ownHash)}\n`, hash: ownHash };
}

/** The header in a line; undefined if there is none. */
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

/** The text of an event before its hash. */
export function formatEventBody(fact: Fact, { seq, id, parent, time }: EventPosition): string {
  const parentJson = parent === null ? 'null' : stringifyOneLine(parent);
  return `{"seq":${seq},"id":"${id}","parentId":${parentJson},"time":"${time}",${stringifyOneLine(withoutPosition(fact)).slice(1, -1)}`;
}

/** A fact with its type first and without position fields: an event that is appended as a fact gets a new position. */
function withoutPosition(fact: Fact): Fact {
  if ('seq' in fact || 'id' in fact || 'parent' in fact || 'time' in fact) {
    const { seq: _seq, id: _id, parent: _parent, time: _time, ...rest } = fact as Event;
    return withoutPosition(rest);
  }
  return Object.keys(fact)[0] === 'type' ? fact : Object.assign({ type: fact.type }, fact);
}

/** JSON in one line for every program: line breaks that JSON does not escape are escaped too. */
function stringifyOneLine(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\u2028') && !text.includes('\u2029') && !text.includes('\u0085')) return text;
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029').replaceAll('\u0085', '\\u0085');
}

/** The hash at the end of the line from `start` to `end`; undefined if the line does not end with one. */
export function readStoredHash(text: string, start: number, end: number): string | undefined {
  if (
    end - start < hashFieldLength ||
    !text.startsWith(hashFieldStart, end - hashFieldLength) ||
    !text.startsWith('"}', end - 2)
  )
    return undefined;
  return text.slice(end - hashLength - 2, end - 2);
}

/** The hash that a line should have after a line with the hash `link`. */
export const computeHashAt = (link: string, text: string, start: number, end: number): string =>
  hashLine(link, text.slice(start, end - hashFieldLength));

/** The line with another hash. */
export const replaceHash = (text: string, ownHash: string): string =>
  withHash(text.slice(0, -hashFieldLength), ownHash);

/** The position fields at the start of a line; `key` and `rest` are the offsets of `"parentId"` and of the text after its value. */
export type LineEnvelope = {
  readonly seq: number;
  readonly id: string;
  readonly parent: string | null;
  readonly key: number;
  readonly rest: number;
};

/** Reads the position fields of a line in the format that this program writes, without parsing; undefined for any other text. */
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

/** Whether a line holds a fact of this type, by its current name or by that of an older version. */
export const hasEventType = (type: Fact['type'], text: string, envelope: LineEnvelope): boolean =>
  text.startsWith(`"type":"${type}"`, envelope.rest + timeLength) ||
  (oldEventTypes[type] !== undefined && text.startsWith(`"type":"${oldEventTypes[type]}"`, envelope.rest + timeLength));

/** The time in a line. */
export const readEventTime = (text: string, envelope: LineEnvelope): string =>
  text.slice(envelope.rest + 8, envelope.rest + 32);

/** Parses the event of a line. Position fields that a line written by the user lacks follow from the event before it. */
export function parseEventLine(text: string, start: number, end: number, before?: Event): Event {
  const envelope = readEnvelope(text, start);
  if (!envelope || !hasIsoTime(text, envelope) || readStoredHash(text, start, end) === undefined)
    return parseLooseEvent(upcastEvent(tryParseJson(text.slice(start, end))), before);
  // Parsing the rest and adding the position is cheaper than renaming a key.
  const event = parseRest(`{${text.slice(envelope.rest, end - hashFieldLength)}}`);
  event.seq = envelope.seq;
  event.id = envelope.id;
  event.parent = envelope.parent;
  return upcastEvent(event) as Event;
}

function parseRest(json: string): { -readonly [key in keyof EventPosition]: EventPosition[key] } {
  try {
    return JSON.parse(json) as { -readonly [key in keyof EventPosition]: EventPosition[key] };
  } catch {
    // The error of the parser contains the text, which may contain control characters.
    throw new FairleadError('store/damaged', 'A line of a session file has a correct hash but is not JSON.', {
      blame: 'user',
      hint: 'The file was written by another program.',
    });
  }
}

function parseLooseEvent(value: unknown, before: Event | undefined): Event {
  const { parentId, hash: _hash, ...rest } = value as { parentId?: unknown; hash?: unknown };
  const fields = rest as Partial<Event>;
  return {
    ...fields,
    seq: Number.isSafeInteger(fields.seq) ? fields.seq : (before?.seq ?? 0),
    id: typeof fields.id === 'string' ? fields.id : '',
    parent: typeof parentId === 'string' ? parentId : (before?.id ?? null),
    time: isIsoTime(fields.time) ? fields.time : (before?.time ?? new Date().toISOString()),
  } as Event;
}

/** Whether the time of a line is valid and ends where a valid time ends. */
const hasIsoTime = (text: string, envelope: LineEnvelope): boolean =>
  isIsoTime(readEventTime(text, envelope)) && text[envelope.rest + 32] === '"';

const isIsoTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
