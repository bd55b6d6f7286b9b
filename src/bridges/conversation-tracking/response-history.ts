// What came before an answer, by the provider's name for it: a request that follows it does not say it again.
import type { Message } from '../../core/index.ts';

type Messages = readonly (Message | null)[];

/** The answers that are remembered. */
export type ResponseHistoryCache = {
  get(name: string | undefined): Messages | undefined;
  /** Remembers what a conversation holds up to the answer of this name, with the answer. */
  set(name: string, messages: Messages): void;
};

const maxResponses = 1000;
/** How many characters are remembered in all; the latest answer is, however long it is. */
const maxChars = 64 * 1024 * 1024;

/** Answers in memory. Those that were given longest ago are forgotten first: each may hold a whole conversation, with its pictures. */
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

/** About how many characters a message has; arguments of calls were written by a model and are short. */
const estimateChars = (message: Message | null): number =>
  (message?.parts ?? []).reduce((sum, part) => {
    if (part.type === 'file') return sum + part.data.length;
    return sum + ('text' in part ? part.text.length : 100);
  }, 0);
