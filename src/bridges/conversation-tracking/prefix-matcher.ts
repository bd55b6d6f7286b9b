// Matches a request to a tracked conversation: the longest known prefix including its last response.
import type { Message } from '../../core/index.ts';

/** A tracked conversation. */
export type KnownConversation = {
  readonly id: string;
  marks: readonly number[];
  tip: number | undefined;
  /** By number of messages: the event after which the response was known. */
  answers: Map<number, string>;
  /** Resolves when its current request is over; absent while it is idle. */
  busy: Promise<void> | undefined;
};

/** The relation of a request to the known conversations. */
export type PrefixMatch =
  | { readonly type: 'new' }
  | { readonly type: 'goes-on'; readonly conversation: KnownConversation }
  /** It may be the next request of a conversation whose response is not recorded yet. */
  | { readonly type: 'wait'; readonly conversation: KnownConversation }
  /** It shares a prefix of this many messages and then diverges. */
  | { readonly type: 'parts'; readonly conversation: KnownConversation; readonly after: number };

/** The known prefixes. */
export type PrefixMatcher = {
  add(kept: KnownConversation): void;
  remove(kept: KnownConversation): void;
  match(marks: readonly number[], messages: readonly (Message | null)[]): PrefixMatch;
};

/** Creates a matcher over prefix hashes. */
export function createPrefixMatcher(): PrefixMatcher {
  const tips = new Map<number, KnownConversation>();
  const places = new Map<number, KnownConversation>();

  function open(marks: readonly number[]): { readonly kept: KnownConversation; readonly length: number } | undefined {
    for (let length = marks.length; length > 0; length--) {
      const kept = tips.get(marks[length - 1] as number);
      if (kept && kept.tip === marks[length - 1]) return { kept, length };
    }
    return undefined;
  }

  function shared(
    marks: readonly number[],
    least: number,
  ): { readonly kept: KnownConversation; readonly length: number } | undefined {
    for (let length = marks.length; length > least; length--) {
      const kept = places.get(marks[length - 1] as number);
      if (kept?.marks[length - 1] === marks[length - 1]) return { kept: kept as KnownConversation, length };
    }
    return undefined;
  }

  return {
    add(kept) {
      for (const mark of kept.marks) places.set(mark, kept);
      if (kept.tip !== undefined) tips.set(kept.tip, kept);
    },
    remove(kept) {
      for (const mark of kept.marks) if (places.get(mark) === kept) places.delete(mark);
      if (kept.tip !== undefined && tips.get(kept.tip) === kept) tips.delete(kept.tip);
    },
    match(marks, messages) {
      const next = open(marks);
      const like = shared(marks, next?.length ?? 0);
      if (!like) {
        if (next)
          return next.kept.busy
            ? { type: 'wait', conversation: next.kept }
            : { type: 'goes-on', conversation: next.kept };
        return { type: 'new' };
      }
      const { kept, length } = like;
      // A match of the system text alone is ambiguous.
      if (!messages.slice(0, length).some(Boolean)) return { type: 'new' };
      const whole = kept.marks.length === length && kept.tip === undefined;
      const further = messages.slice(length).some((message) => message?.role === 'assistant');
      if (whole && kept.busy && further) return { type: 'wait', conversation: kept };
      if (whole && !kept.busy) return { type: 'goes-on', conversation: kept };
      return { type: 'parts', conversation: kept, after: length };
    },
  };
}
