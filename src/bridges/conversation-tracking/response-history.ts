// Caches the history before a response by response id, for requests with `previous_response_id`.
import type { Message } from '../../core/index.ts';

type Messages = readonly (Message | null)[];

/** The cache of response histories. */
export type ResponseHistoryCache = {
  get(name: string | undefined): Messages | undefined;
  /** Stores the history up to and including the response with this id. */
  set(name: string, messages: Messages): void;
};

const maxResponses = 1000;
/** Max characters in the cache; the latest entry is always kept. */
const maxChars = 64 * 1024 * 1024;

/** Creates an in-memory cache; the oldest entries are evicted first, because each can hold a whole conversation with images. */
export function createResponseHistoryCache(): ResponseHistoryCache {
  const answers = new Map<string, { readonly messages: Messages; readonly size: number }>();
  let total = 0;

  function forget(name: string): void {
    total -= answers.get(name)?.size ?? 0;
    answers.delete(name);
  }

  return {
    get: (name) => (name === undefined ? undefined : answers.get(name)?.messages),
    set(name, messages) {
      forget(name);
      const size = messages.reduce((sum, message) => sum + estimateChars(message), 0);
      answers.set(name, { messages, size });
      total += size;
      for (const oldest of answers.keys()) {
        if (oldest === name || (answers.size <= maxResponses && total <= maxChars)) return;
        forget(oldest);
      }
    },
  };
}

/** Estimates the characters of a message; call arguments are short and not counted. */
const estimateChars = (message: Message | null): number =>
  (message?.parts ?? []).reduce((sum, part) => {
    if (part.type === 'file') return sum + part.data.length;
    return sum + ('text' in part ? part.text.length : 100);
  }, 0);
