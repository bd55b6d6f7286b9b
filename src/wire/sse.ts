// Server-sent events: writes frames, parses them incrementally from text, and splits newline-delimited JSON into lines.
import { isObject, type JsonObject } from '../core/index.ts';
import { tryParseJson } from './fields.ts';

/** A parsed event; `event` is `message` if the frame has no event field. */
export type SseEvent = { readonly event: string; readonly data: string };

/** One event of a model stream: its JSON data, and its event name in formats that use names. */
export type WireStreamEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

/** Formats one frame. */
export const formatSseFrame = (data: string, event?: string, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;

/** Formats one event of a model stream. */
export const formatStreamEvent = ({ event, data }: WireStreamEvent): string =>
  formatSseFrame(data === '[DONE]' ? data : JSON.stringify(data), event);

/** Formats the events of a model stream. */
export const formatStreamEvents = (events: readonly WireStreamEvent[]): string =>
  events.map(formatStreamEvent).join('');

/** Parses one frame; undefined if it is a comment or its data is not a JSON object. */
export function parseStreamEvent(frame: string): WireStreamEvent | undefined {
  const draft: FrameDraft = { name: '', data: undefined };
  for (const line of frame.split(/\r\n|\r|\n/)) readField(draft, line, 0, line.length);
  if (draft.data === undefined) return undefined;
  const name = draft.name === '' ? {} : { event: draft.name };
  if (draft.data.trim() === '[DONE]') return { ...name, data: '[DONE]' };
  const data = tryParseJson(draft.data);
  return isObject(data) ? { ...name, data } : undefined;
}

/** Parses text that arrives in pieces of any length. */
export type TextParser<T> = {
  /** Returns the items that this text completes. */
  push(text: string): readonly T[];
  /** Returns the items that the end of the input completes. */
  end(): readonly T[];
};

/** Limit on buffered text; `onExceeded` must throw. */
export type TextLimit = { readonly maxChars: number; readonly onExceeded: () => never };

/** Parses server-sent events by the WHATWG rules. An event without its closing blank line is incomplete and is dropped. */
export function createSseParser(limit: TextLimit): TextParser<SseEvent> {
  const lines = createLineBuffer(limit);
  const draft: FrameDraft = { name: '', data: undefined };

  function readLine(text: string, from: number, to: number, out: SseEvent[]): void {
    if (from < to) {
      readField(draft, text, from, to);
      if (draft.data !== undefined && draft.data.length > limit.maxChars) limit.onExceeded();
      return;
    }
    if (draft.data !== undefined) out.push({ event: draft.name === '' ? 'message' : draft.name, data: draft.data });
    draft.name = '';
    draft.data = undefined;
  }

  return {
    push(piece) {
      const out: SseEvent[] = [];
      const text = lines.push(piece);
      let from = 0;
      for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
        readLine(text, from, to, out);
        from = to + 1;
      }
      return out;
    },
    end: () => [],
  };
}

/** Splits text into lines that are not blank. The last line is returned without a line end too: its reader must check that it is complete. */
export function createLineParser(limit: TextLimit): TextParser<string> {
  const buffer = createLineBuffer(limit);
  const split = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');
  return { push: (piece) => split(buffer.push(piece)), end: () => split(buffer.flush()) };
}

type FrameDraft = { name: string; data: string | undefined };

/** Reads the `data` or `event` field in `text` from `from` to `to`; ignores other fields and comments. */
function readField(draft: FrameDraft, text: string, from: number, to: number): void {
  const colon = text.indexOf(':', from);
  const end = colon < 0 || colon > to ? to : colon;
  const length = end - from;
  if (length !== 4 && length !== 5) return;
  const start = end === to ? to : end + (text.charCodeAt(end + 1) === 32 && end + 1 < to ? 2 : 1);
  if (length === 4 && text.startsWith('data', from)) {
    const value = text.slice(start, to);
    draft.data = draft.data === undefined ? value : `${draft.data}\n${value}`;
  } else if (length === 5 && text.startsWith('event', from)) draft.name = text.slice(start, to);
}

type LineBuffer = { push(piece: string): string; flush(): string };

/** Returns complete lines only, with every line end as `\n` and a leading byte order mark removed. */
function createLineBuffer({ maxChars, onExceeded }: TextLimit): LineBuffer {
  let rest = '';
  let started = false;
  let afterReturn = false;

  function normalize(text: string): string {
    let piece = text;
    if (piece === '') return piece;
    if (!started) {
      started = true;
      if (piece.charCodeAt(0) === 0xfeff) piece = piece.slice(1);
    }
    if (afterReturn && piece.charCodeAt(0) === 10) piece = piece.slice(1);
    afterReturn = false;
    if (!piece.includes('\r')) return piece;
    afterReturn = piece.endsWith('\r');
    return piece.replaceAll(/\r\n?/g, '\n');
  }

  return {
    push(text) {
      const piece = normalize(text);
      // Only the new piece is searched: searching `rest` again for each piece of a long line would be quadratic.
      const cut = piece.lastIndexOf('\n') + 1;
      if (cut === 0) {
        rest += piece;
        if (rest.length > maxChars) onExceeded();
        return '';
      }
      const complete = rest + piece.slice(0, cut);
      rest = piece.slice(cut);
      return complete;
    },
    flush() {
      const left = rest;
      rest = '';
      return left;
    },
  };
}
