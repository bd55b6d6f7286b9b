// Compaction without a model: the user's messages and the latest turns stay unchanged, the rest is omitted with a marker.
import { toArray, messageTokens, type Compactor, type Message, type RunState } from '../../core/index.ts';
import { findLostContent } from './lost-content.ts';
import { planCompaction } from './select-kept-messages.ts';
import { assembleMessages, compactionBudget } from './assemble-messages.ts';

/** When a conversation is compacted, and to what size. */
export type CompactionOptions = {
  /** The share of `limits.context` (by default 90 % of the context window) at which compaction starts. Default 0.8. */
  readonly threshold?: number;
  /** The target share of `limits.context`. Default 0.45. */
  readonly target?: number;
  /** How many of the latest turns stay unchanged, if they fit. */
  readonly keepTurns?: number;
};

/** Creates a compactor that omits what is between the first request and as many of the latest turns as fit. */
export function truncatingCompactor(options: CompactionOptions = {}): Compactor {
  const { threshold = 0.8, target = 0.45, keepTurns = Number.POSITIVE_INFINITY } = options;
  return {
    threshold,
    async run(state, { agent }) {
      const budget = compactionBudget(state, agent, { target, keepTurns, summary: 0 });
      const plan = planCompaction(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToCompact };
      const messages = assembleMessages(state, plan, budget.targetTokens);
      const failure = compactionFailure(state, messages);
      return failure === undefined
        ? { messages, detail: `${plan.omitted.length} messages were omitted.` }
        : { detail: failure };
    },
  };
}

/** The error if a conversation cannot be compacted at all. */
export const nothingToCompact = 'There is nothing between the first request and the latest turn that could be omitted.';

/** Returns why these messages cannot replace those of a state, in one sentence; undefined if they can. */
export function compactionFailure(state: RunState, messages: readonly Message[]): string | undefined {
  const before = toArray(state.messages);
  const [tokensBefore, tokensAfter] = [messageTokens(before), messageTokens(messages)];
  return tokensAfter < tokensBefore
    ? findLostContent(before, messages)
    : `It would not be shorter: about ${tokensAfter} tokens instead of ${tokensBefore}.`;
}
