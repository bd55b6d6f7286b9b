// Compaction with a model: the part that is left out is summarised, everything that must be exact is carried over by structure.
import { toArray, messageTokens, type CompactionResult, type Compactor, type Provider } from '../../core/index.ts';
import { planCompaction } from './plan.ts';
import { assembleMessages, compactionBudget } from './layout.ts';
import { formatSummaryBlock, requestSummary } from './summary.ts';
import { nothingToCompact, truncatingCompactor, compactionFailure, type CompactionOptions } from './truncate.ts';

/** How a conversation is summarised. */
export type SummarizeOptions = CompactionOptions & {
  /** Who writes the summary; the agent's own model unless given. */
  readonly provider?: Provider;
  /** Tokens of a summary at most; 1500 unless given. */
  readonly summaryTokens?: number;
};

/** Tokens below which a summary says nothing. A window that leaves no more belongs to a model whose summaries nobody should trust. */
const minSummaryTokens = 100;

/** Has a model summarise what lies between the first request and the latest turns. Where that fails, or helps nobody, it is left out as by `trimming`. */
export function summarizingCompactor(options: SummarizeOptions = {}): Compactor {
  const { threshold = 0.8, target = 0.45, keepTurns = 10, summaryTokens = 1500 } = options;
  const trimmer = truncatingCompactor({ ...options, keepTurns: Number.POSITIVE_INFINITY });
  return {
    threshold,
    async run(state, context) {
      const agent = options.provider ? { ...context.agent, provider: options.provider } : context.agent;
      const budget = compactionBudget(state, context.agent, { target, keepTurns, summary: summaryTokens });
      const plan = planCompaction(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToCompact };
      const fallBack = async (why: string, more: CompactionResult = {}): Promise<CompactionResult> => {
        const trimmed = await trimmer.run(state, context);
        return { ...more, ...trimmed, detail: `${trimmed.detail ?? ''} No summary was made: ${why}.`.trim() };
      };
      if (budget.summaryTokens < minSummaryTokens) return fallBack('there is no room for one that says anything');
      if (messageTokens(plan.omitted) <= budget.summaryTokens)
        return fallBack('it would have been as long as what it replaces');
      const summary = await requestSummary(
        agent,
        state,
        plan,
        { maxTokens: budget.summaryTokens, contextWindow: budget.window },
        context,
      );
      const spent = summary.spent ? { spent: summary.spent } : {};
      if (summary.text === undefined) return fallBack(summary.error ?? 'the model gave none', spent);
      const block = formatSummaryBlock(summary.text, agent.provider.model);
      const messages = assembleMessages(state, plan, budget.targetTokens, block);
      const wrong = compactionFailure(state, messages);
      if (wrong !== undefined) return fallBack(wrong, spent);
      return {
        messages,
        detail: `${plan.omitted.length} messages were summarised by ${agent.provider.model}.`,
        ...spent,
      };
    },
  };
}
