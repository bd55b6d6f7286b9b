// Compaction with a model: the part that is left out is summarised, everything that must be exact is carried over by structure.
import { toArray, messageTokens, type CompactionResult, type Compactor, type Provider } from '../../core/index.ts';
import { planFor } from './plan.ts';
import { assemble, budgetFor } from './shape.ts';
import { summaryBlock, summaryOf } from './summary.ts';
import { nothingToLeave, trimming, unfit, type CompactionOptions } from './trimming.ts';

/** How a conversation is summarised. */
export type SummarisingOptions = CompactionOptions & {
  /** Who writes the summary; the agent's own model unless given. */
  readonly provider?: Provider;
  /** Tokens of a summary at most; 1500 unless given. */
  readonly summaryTokens?: number;
};

/** Tokens below which a summary says nothing. A window that leaves no more belongs to a model whose summaries nobody should trust. */
const leastSummary = 100;

/** Has a model summarise what lies between the first request and the latest turns. Where that fails, or helps nobody, it is left out as by `trimming`. */
export function summarising(options: SummarisingOptions = {}): Compactor {
  const { threshold = 0.8, target = 0.45, keepTurns = 10, summaryTokens = 1500 } = options;
  const trimmer = trimming({ ...options, keepTurns: Number.POSITIVE_INFINITY });
  return {
    threshold,
    async run(state, context) {
      const agent = options.provider ? { ...context.agent, provider: options.provider } : context.agent;
      const budget = budgetFor(state, context.agent, { target, keepTurns, summary: summaryTokens });
      const plan = planFor(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToLeave };
      const fallBack = async (why: string, more: CompactionResult = {}): Promise<CompactionResult> => {
        const trimmed = await trimmer.run(state, context);
        return { ...more, ...trimmed, detail: `${trimmed.detail ?? ''} No summary was made: ${why}.`.trim() };
      };
      if (budget.summary < leastSummary) return fallBack('there is no room for one that says anything');
      if (messageTokens(plan.left) <= budget.summary) return fallBack('it would have been as long as what it replaces');
      const summary = await summaryOf(agent, state, plan, { tokens: budget.summary, window: budget.window }, context);
      const spent = summary.spent ? { spent: summary.spent } : {};
      if (summary.text === undefined) return fallBack(summary.why ?? 'the model gave none', spent);
      const block = summaryBlock(summary.text, agent.provider.model);
      const messages = assemble(state, plan, budget.room, block);
      const wrong = unfit(state, messages);
      if (wrong !== undefined) return fallBack(wrong, spent);
      return { messages, detail: `${plan.left.length} messages were summarised by ${agent.provider.model}.`, ...spent };
    },
  };
}
