// Messages between the processes of a store about partial text: subscriptions, and the text itself.
import { isObject, type Json } from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';

/** A message to all other processes, or to one. */
export type BusMessage = { readonly to?: string; readonly text: string };

/** Delivers messages between the processes of a store: each at most once, those of one process in order. */
export type MessageBus = {
  /** Whether messages to this process are received from now on. */
  setListening(isListening: boolean): void;
  send(messages: readonly BusMessage[]): Promise<void>;
};

/** Creates the bus of one process. It calls `receive` without a text if messages may have been missed. */
export type CreateMessageBus = (ownId: string, receive: (text: string | undefined) => void) => MessageBus;

/** A chunk of the text of a turn: `since` is the seq of the event that started the turn, `take` counts its restarts, `at` is the offset of the chunk. */
export type TextChunk = {
  readonly session: string;
  readonly turn: number;
  readonly since: number;
  readonly take: number;
  readonly at: number;
  readonly text: string;
};

/** The content of a message. */
export type BusPayload =
  /** Subscribes. `whole`: from the start of the current turn, including what was sent before. */
  | { readonly type: 'subscribe'; readonly from: string; readonly whole: boolean; readonly sessions: readonly string[] }
  /** Unsubscribes. */
  | { readonly type: 'unsubscribe'; readonly from: string; readonly sessions: readonly string[] }
  /** Asks all processes for their subscriptions. */
  | { readonly type: 'query-subscriptions'; readonly from: string }
  | { readonly type: 'text'; readonly chunks: readonly TextChunk[] };

/** The maximum size of a message; PostgreSQL allows 8,000 bytes. */
const maxMessageBytes = 7000;

/** The maximum length of a chunk: as JSON, a character may take six bytes. */
export const chunkChars = 1000;

/** Packs items into as few messages as possible. An item that is too long for a message is left out. */
export function packMessages<T extends Json | TextChunk>(
  items: readonly T[],
  toPayload: (batch: readonly T[]) => BusPayload,
): string[] {
  const messages: T[][] = [];
  let freeBytes = 0;
  for (const item of items) {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxMessageBytes) continue;
    if (bytes > freeBytes) {
      messages.push([]);
      freeBytes = maxMessageBytes;
    }
    messages.at(-1)?.push(item);
    freeBytes -= bytes;
  }
  return messages.map((batch) => JSON.stringify(toPayload(batch)));
}

/** Parses a message; undefined if it is not valid: another version of the program may send other types. */
export function parseBusPayload(text: string): BusPayload | undefined {
  const payload = tryParseJson(text);
  if (!isObject(payload)) return undefined;
  const { type, from, sessions, chunks } = payload;
  const hasSender = typeof from === 'string' && /^[0-9a-f]{1,40}$/.test(from);
  const hasSessions = Array.isArray(sessions) && sessions.every((each) => typeof each === 'string');
  if (type === 'query-subscriptions' && hasSender) return payload as BusPayload;
  if ((type === 'subscribe' || type === 'unsubscribe') && hasSender && hasSessions) return payload as BusPayload;
  if (type === 'text' && Array.isArray(chunks) && chunks.every(isTextChunk)) return payload as unknown as BusPayload;
  return undefined;
}

const isTextChunk = (chunk: unknown): boolean =>
  isObject(chunk) &&
  typeof chunk['session'] === 'string' &&
  typeof chunk['text'] === 'string' &&
  [chunk['turn'], chunk['since'], chunk['take'], chunk['at']].every(
    (each) => typeof each === 'number' && Number.isSafeInteger(each) && each >= 0,
  );
