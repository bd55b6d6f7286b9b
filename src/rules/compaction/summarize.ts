// Compaction with a model: the omitted part is summarized; everything that must be exact is carried over by structure.
import { toArray, messageTokens, type CompactionResult, type Compactor, type Provider } from '../../core/index.ts';
import { defaultThreshold } from './default-compactor.ts';
import { planCompaction } from './select-kept-messages.ts';
import { assembleMessages, compactionBudget } from './assemble-messages.ts';
import { formatSummaryBlock, requestSummary } from './summary.ts';
import { nothingToCompact, truncatingCompactor, compactionFailure, type CompactionOptions } from './truncate.ts';

/** Options of summarizingCompactor. */
export type SummarizeOptions = CompactionOptions & {
  /** The provider that writes the summary. Default: the agent's own. */
  readonly provider?: Provider;
  /** Max tokens of a summary. Default 1500. */
  readonly summaryTokens?: number;
};

/** Min tokens of a useful summary. A context window that leaves less belongs to a model whose summaries are not reliable. */
const minSummaryTokens = 100;

/** Summarizes what is between the first request and the latest turns. If that fails or saves nothing, the part is omitted as by `truncatingCompactor`. */
export function summarizingCompactor(options: SummarizeOptions = {}): Compactor {
  const { threshold = defaultThreshold, target = 0.45, keepTurns = 10, summaryTokens = 1500 } = options;
  const truncator = truncatingCompactor({ ...options, keepTurns: Number.POSITIVE_INFINITY });
  return {
    threshold,
    async run(state, context) {
      const agent = options.provider ? { ...context.agent, provider: options.provider } : context.agent;
      const budget = compactionBudget(state, context.agent, { target, keepTurns, summary: summaryTokens });
      const plan = planCompaction(toArray(state.messages), budget);
      if (!plan) return { detail: nothingToCompact };
      const fallBack = async (why: string, fields: CompactionResult = {}): Promise<CompactionResult> => {
        const truncated = await truncator.run(state, context);
        return { ...fields, ...truncated, detail: `${truncated.detail ?? ''} No summary was made: ${why}.`.trim() };
      };
      if (budget.summaryTokens < minSummaryTokens) return fallBack('there is not enough room for a useful one');
      if (messageTokens(plan.omitted) <= budget.summaryTokens)
        return fallBack('it would have been as long as the text it replaces');
      const summary = await requestSummary(
        agent,
        state,
        plan,
        { maxTokens: budget.summaryTokens, contextWindow: budget.window },
        context,
      );
      const spent = summary.spent ? { spent: summary.spent } : {};
      if (summary.text === undefined) return fallBack(summary.error ?? 'the model returned none', spent);
      const block = formatSummaryBlock(summary.text, agent.provider.model);
      const messages = assembleMessages(state, plan, budget.targetTokens, block);
      const failure = compactionFailure(state, messages);
      if (failure !== undefined) return fallBack(failure, spent);
      return {
        messages,
        detail: `${plan.omitted.length} messages were summarized by ${agent.provider.model}.`,
        ...spent,
      };
    },
  };
}
