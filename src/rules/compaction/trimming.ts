// Compaction without a model: what the user said and the latest work stay word for word, the rest is left out and said to be.
import { toArray, messageTokens, type Compactor, type Message, type RunState } from '../../core/index.ts';
import { lossIn } from './pinned.ts';
import { planFor } from './plan.ts';
import { assemble, budgetFor, leftOut } from './shape.ts';

/** When a conversation is compacted, and to what. */
export type CompactionOptions = {
  /** The share of the window from which on it is; 0.8 unless given. */
  readonly threshold?: number;
  /** The share of the window to get down to; 0.45 unless given. */
  readonly target?: number;
  /** How many of the latest turns stay word for word, if they fit. */
  readonly keepTurns?: number;
};

/** Leaves out what lies between the first request and as many of the latest turns as fit. */
export function trimming(options: CompactionOptions = {}): Compactor {
  const { threshold = 0.8, target = 0.45, keepTurns = Number.POSITIVE_INFINITY } = options;
  return {
    threshold,
    async run(state, { agent }) {
      const budget = budgetFor(state, agent, { target, keepTurns, summary: 0 });
      const plan = planFor(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToLeave };
      const messages = assemble(state, plan, budget.room, leftOut);
      const wrong = unfit(state, messages);
      return wrong === undefined
        ? { messages, detail: `${plan.left.length} messages were left out.` }
        : { detail: wrong };
    },
  };
}

/** Why a conversation cannot be compacted at all. */
export const nothingToLeave = 'There is nothing between the first request and the latest turn that could be left out.';

/** Why these messages cannot take the place of a state's, in one sentence; nothing if they can. */
export function unfit(state: RunState, messages: readonly Message[]): string | undefined {
  const before = toArray(state.messages);
  const [old, now] = [messageTokens(before), messageTokens(messages)];
  return now < old ? lossIn(before, messages) : `It would not be shorter: about ${now} tokens instead of ${old}.`;
}
