// Which conversation a request goes on with: the longest beginning that is known, with the answer that followed it.
import type { Message } from '../../core/index.ts';

/** A conversation that is kept. */
export type Kept = {
  readonly id: string;
  marks: readonly number[];
  tip: number | undefined;
  /** The event after which the answer to the first so many messages was known. */
  answers: Map<number, string>;
  /** Settles when the request that it is busy with is over; nothing while it rests. */
  busy: Promise<void> | undefined;
};

/** What a request is to the conversations that are known. */
export type Match =
  | { readonly type: 'new' }
  | { readonly type: 'goes-on'; readonly kept: Kept }
  /** It may be the next request of one whose answer is not written down yet. */
  | { readonly type: 'wait'; readonly kept: Kept }
  /** It begins like one and goes another way after so many messages. */
  | { readonly type: 'parts'; readonly kept: Kept; readonly after: number };

/** The beginnings that are known. */
export type Recognition = {
  add(kept: Kept): void;
  drop(kept: Kept): void;
  match(marks: readonly number[], messages: readonly (Message | null)[]): Match;
};

/** Knows conversations by the marks of their beginnings. */
export function recognition(): Recognition {
  const tips = new Map<number, Kept>();
  const places = new Map<number, Kept>();

  function open(marks: readonly number[]): { readonly kept: Kept; readonly length: number } | undefined {
    for (let length = marks.length; length > 0; length--) {
      const kept = tips.get(marks[length - 1] as number);
      if (kept && kept.tip === marks[length - 1]) return { kept, length };
    }
    return undefined;
  }

  function shared(
    marks: readonly number[],
    least: number,
  ): { readonly kept: Kept; readonly length: number } | undefined {
    for (let length = marks.length; length > least; length--) {
      const kept = places.get(marks[length - 1] as number);
      if (kept?.marks[length - 1] === marks[length - 1]) return { kept: kept as Kept, length };
    }
    return undefined;
  }

  return {
    add(kept) {
      for (const mark of kept.marks) places.set(mark, kept);
      if (kept.tip !== undefined) tips.set(kept.tip, kept);
    },
    drop(kept) {
      for (const mark of kept.marks) if (places.get(mark) === kept) places.delete(mark);
      if (kept.tip !== undefined && tips.get(kept.tip) === kept) tips.delete(kept.tip);
    },
    match(marks, messages) {
      const next = open(marks);
      const like = shared(marks, next?.length ?? 0);
      if (!like) {
        if (next) return next.kept.busy ? { type: 'wait', kept: next.kept } : { type: 'goes-on', kept: next.kept };
        return { type: 'new' };
      }
      const { kept, length } = like;
      // A conversation of which only the system's words are known could be any.
      if (!messages.slice(0, length).some(Boolean)) return { type: 'new' };
      const whole = kept.marks.length === length && kept.tip === undefined;
      const further = messages.slice(length).some((message) => message?.role === 'assistant');
      if (whole && kept.busy && further) return { type: 'wait', kept };
      if (whole && !kept.busy) return { type: 'goes-on', kept };
      return { type: 'parts', kept, after: length };
    },
  };
}
