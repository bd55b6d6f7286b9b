// What the processes of a store write to each other about words that are not settled: who listens, and what is said.
import { isObject, type Json } from '../core/index.ts';

/** A letter to all other processes, or to one. */
export type BusMessage = { readonly to?: string; readonly text: string };

/** Carries letters between the processes of a store: each at most once, those of one process in their order. */
export type MessageBus = {
  /** Whether letters to this process are to be heard from now on. */
  setListening(is: boolean): void;
  send(letters: readonly BusMessage[]): Promise<void>;
};

/** Makes the bus of one process. It hears nothing at all where something may have been missed. */
export type CreateMessageBus = (me: string, heard: (text: string | undefined) => void) => MessageBus;

/** A stretch of what is said in a turn; a place is known by its turn, how often that was begun again, and what came before. */
export type TextChunk = {
  readonly session: string;
  readonly turn: number;
  readonly since: number;
  readonly take: number;
  readonly at: number;
  readonly text: string;
};

/** What a letter says. */
export type BusPayload =
  /** `whole`: from the beginning of the turn under way, also what was told before. */
  | { readonly type: 'listening'; readonly from: string; readonly whole: boolean; readonly sessions: readonly string[] }
  | { readonly type: 'gone'; readonly from: string; readonly sessions: readonly string[] }
  /** Asks who listens. */
  | { readonly type: 'who'; readonly from: string }
  | { readonly type: 'said'; readonly pieces: readonly TextChunk[] };

/** Bytes of a letter; PostgreSQL takes 8,000. */
const maxMessageBytes = 7000;

/** Characters of a piece: as JSON, each may be six bytes long. */
export const chunkChars = 1000;

/** Letters that say these things, as few as can be. What is too long for any is left out. */
export function packMessages<T extends Json | TextChunk>(
  things: readonly T[],
  mail: (some: readonly T[]) => BusPayload,
): string[] {
  const letters: T[][] = [];
  let room = 0;
  for (const thing of things) {
    const bytes = Buffer.byteLength(JSON.stringify(thing)) + 1;
    if (bytes > maxMessageBytes) continue;
    if (bytes > room) {
      letters.push([]);
      room = maxMessageBytes;
    }
    letters.at(-1)?.push(thing);
    room -= bytes;
  }
  return letters.map((some) => JSON.stringify(mail(some)));
}

/** What a letter says, if it is one: another version of the program may write others. */
export function parseBusPayload(text: string): BusPayload | undefined {
  let mail: unknown;
  try {
    mail = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(mail)) return undefined;
  const { type, from, sessions, pieces } = mail;
  const isFrom = typeof from === 'string' && /^[0-9a-f]{1,40}$/.test(from);
  const isAbout = Array.isArray(sessions) && sessions.every((each) => typeof each === 'string');
  if (type === 'who' && isFrom) return mail as BusPayload;
  if ((type === 'listening' || type === 'gone') && isFrom && isAbout) return mail as BusPayload;
  if (type === 'said' && Array.isArray(pieces) && pieces.every(isTextChunk)) return mail as unknown as BusPayload;
  return undefined;
}

const isTextChunk = (piece: unknown): boolean =>
  isObject(piece) &&
  typeof piece['session'] === 'string' &&
  typeof piece['text'] === 'string' &&
  [piece['turn'], piece['since'], piece['take'], piece['at']].every(
    (each) => typeof each === 'number' && Number.isSafeInteger(each) && each >= 0,
  );
