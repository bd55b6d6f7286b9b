// What somebody else's loop has shown of its conversation, as a view of our log: how far it goes, and what was added to it where.
import {
  canonicalJson,
  hash53,
  isObject,
  appendItem,
  toArray,
  createPersistentList,
  type Event,
  type Json,
  type Message,
  type NamedView,
  type Note,
  type PersistentList,
} from '../../core/index.ts';

/** Something the model reads that the caller's own messages do not hold. It stands after the caller's message of this index, for ever. */
export type MessageAddition =
  /** Stands at the end of the system text, from the session's first request on. */
  | { readonly type: 'system'; readonly after: -1; readonly text: string }
  | { readonly type: 'notes'; readonly after: number; readonly text: string }
  /** An answer whose calls were refused, and what the model was told of each. `raw` is the answer as the provider gave it. */
  | {
      readonly type: 'exchange';
      readonly after: number;
      readonly answer: Message;
      readonly results: readonly { readonly id: string; readonly tool: string; readonly text: string }[];
      readonly raw?: Json;
    };

/** A message of the caller's as far as we know it: by a mark of everything up to it, and the event that took it in. */
export type MessageMark = { readonly mark: number; readonly event: string };

/** How far the caller's conversation is known. */
export type CallerHistory = {
  readonly marks: PersistentList<MessageMark>;
  readonly additions: PersistentList<MessageAddition>;
  /** The event after which the conversation's first message was taken in. */
  readonly start: string;
  readonly nonce: string;
};

/** The key of the remark that follows each message taken in. */
export const MESSAGE_REMARK = 'guide/given';
/** The key of the remark that keeps what the system text is added. */
export const SYSTEM_REMARK = 'guide/system';
/** The key of the remark that keeps a refused answer. */
export const EXCHANGE_REMARK = 'guide/exchange';

/** A mark of a conversation that grew by one message. */
export const extendPrefixHash = (mark: number, message: Message | null): number =>
  hash53(`${mark} ${message ? canonicalJson(canonicalMessage(message)) : ''}`);

/** What a caller gives back of an answer unchanged, whatever else its framework does to it. */
function canonicalMessage({ role, parts }: Message): Json {
  return {
    role,
    parts: parts.flatMap((part): readonly Json[] => {
      if (part.type === 'text') return part.text.trim() === '' ? [] : [part.text.trim()];
      if (part.type === 'tool-call') return [{ call: part.tool, input: part.input }];
      if (part.type === 'tool-result') return [{ result: part.text }];
      return part.type === 'file' ? [{ file: hash53(part.data) }] : [];
    }),
  };
}

/** Folds what the remarks of a guide say, and the notes that turns showed. */
export const createCallerHistoryView = (
  wordsFor: (notes: readonly Note[], nonce: string) => string,
): NamedView<CallerHistory> => ({
  name: 'guide/given',
  initial: {
    marks: createPersistentList<MessageMark>(),
    additions: createPersistentList<MessageAddition>(),
    start: '',
    nonce: '',
  },
  on(state, event) {
    if (event.type === 'session-started') return { ...state, nonce: event.nonce ?? '' };
    if (event.type === 'epoch-started' && state.marks.length === 0) return { ...state, start: event.id };
    if (event.type === 'annotation-added' && event.key === MESSAGE_REMARK && typeof event.value === 'number')
      return { ...state, marks: appendItem(state.marks, { mark: event.value, event: event.id }) };
    const added = parseAddition(event, state.marks.length - 1, (notes) => wordsFor(notes, state.nonce));
    return added ? { ...state, additions: appendItem(state.additions, added) } : state;
  },
});

function parseAddition(
  event: Event,
  after: number,
  words: (notes: readonly Note[]) => string,
): MessageAddition | undefined {
  if (event.type === 'turn-started' && event.notes.length) return { type: 'notes', after, text: words(event.notes) };
  if (event.type === 'annotation-added' && event.key === SYSTEM_REMARK && typeof event.value === 'string')
    return { type: 'system', after: -1, text: event.value };
  if (event.type === 'annotation-added' && event.key === EXCHANGE_REMARK && isObject(event.value))
    return { ...(event.value as unknown as MessageAddition & { readonly type: 'exchange' }), type: 'exchange', after };
  return undefined;
}

/** All additions so far, in the order in which the model reads them. */
export const listAdditions = ({ additions }: CallerHistory): readonly MessageAddition[] => toArray(additions);

/** The marks of all the beginnings of a conversation. */
export function computePrefixHashes(messages: readonly (Message | null)[]): readonly number[] {
  let mark = 0;
  return messages.map((message) => (mark = extendPrefixHash(mark, message)));
}

/** How many of these marks are known: the beginning that this conversation and the log have in common. */
export function countCommonMessages({ marks: known }: CallerHistory, marks: readonly number[]): number {
  const other = marks.findIndex((mark, i) => i >= known.length || known.items[i]?.mark !== mark);
  return other < 0 ? marks.length : other;
}

/** Where to go back to so that no call is left without its result: what is new in the middle of a round begins the round again. */
export function rewindToTurnStart(messages: readonly (Message | null)[], known: number): number {
  if (messages[known]?.role !== 'tool') return known;
  let at = known;
  while (at > 0 && messages[at - 1]?.role === 'tool') at--;
  return messages[at - 1]?.role === 'assistant' ? at - 1 : at;
}
