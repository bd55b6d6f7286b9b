// Compaction without a model: what the user said and the latest work stay word for word, the rest is left out and said to be.
import { toArray, messageTokens, type Compactor, type Message, type RunState } from '../../core/index.ts';
import { findLostContent } from './preserve-user-messages.ts';
import { planCompaction } from './plan.ts';
import { assembleMessages, compactionBudget, omittedText } from './layout.ts';

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
export function truncatingCompactor(options: CompactionOptions = {}): Compactor {
  const { threshold = 0.8, target = 0.45, keepTurns = Number.POSITIVE_INFINITY } = options;
  return {
    threshold,
    async run(state, { agent }) {
      const budget = compactionBudget(state, agent, { target, keepTurns, summary: 0 });
      const plan = planCompaction(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToCompact };
      const messages = assembleMessages(state, plan, budget.targetTokens, omittedText);
      const wrong = compactionFailure(state, messages);
      return wrong === undefined
        ? { messages, detail: `${plan.omitted.length} messages were left out.` }
        : { detail: wrong };
    },
  };
}

/** Why a conversation cannot be compacted at all. */
export const nothingToCompact =
  'There is nothing between the first request and the latest turn that could be left out.';

/** Why these messages cannot take the place of a state's, in one sentence; nothing if they can. */
export function compactionFailure(state: RunState, messages: readonly Message[]): string | undefined {
  const before = toArray(state.messages);
  const [old, now] = [messageTokens(before), messageTokens(messages)];
  return now < old
    ? findLostContent(before, messages)
    : `It would not be shorter: about ${now} tokens instead of ${old}.`;
}
