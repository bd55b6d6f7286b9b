// View of an intercepted conversation: the caller's known messages and our additions.
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
import type { MessageAddition } from '../../wire/index.ts';

/** A message of the caller: the hash of its prefix, and the event that recorded it. */
export type MessageMark = { readonly mark: number; readonly event: string };

/** The known part of the caller's conversation. */
export type CallerHistory = {
  readonly marks: PersistentList<MessageMark>;
  readonly additions: PersistentList<MessageAddition>;
  /** The event before the first recorded message. */
  readonly start: string;
  readonly nonce: string;
};

/** Annotation key of a recorded message. */
export const MESSAGE_REMARK = 'guide/given';
/** Annotation key of the system text addition. */
export const SYSTEM_REMARK = 'guide/system';
/** Annotation key of a rejected response. */
export const EXCHANGE_REMARK = 'guide/exchange';

/** Extends a prefix hash by one message. */
export const extendPrefixHash = (mark: number, message: Message | null): number =>
  hash53(`${mark} ${message ? canonicalJson(canonicalMessage(message)) : ''}`);

/** The part of a response that every framework sends back unchanged. */
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

/** Folds the annotations of the interceptor and the shown notes. */
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

/** Returns all additions in reading order. */
export const listAdditions = ({ additions }: CallerHistory): readonly MessageAddition[] => toArray(additions);

/** Returns the hashes of all prefixes of a conversation. */
export function computePrefixHashes(messages: readonly (Message | null)[]): readonly number[] {
  let mark = 0;
  return messages.map((message) => (mark = extendPrefixHash(mark, message)));
}

/** Returns the length of the common prefix with the log. */
export function countCommonMessages({ marks: known }: CallerHistory, marks: readonly number[]): number {
  const other = marks.findIndex((mark, i) => i >= known.length || known.items[i]?.mark !== mark);
  return other < 0 ? marks.length : other;
}

/** Returns the branch point that leaves no call without a result. */
export function rewindToTurnStart(messages: readonly (Message | null)[], known: number): number {
  if (messages[known]?.role !== 'tool') return known;
  let at = known;
  while (at > 0 && messages[at - 1]?.role === 'tool') at--;
  return messages[at - 1]?.role === 'assistant' ? at - 1 : at;
}
