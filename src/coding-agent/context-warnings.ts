// Warnings about the context of a conversation: too large for a local model, or filling too fast.
import { findFamily } from '../providers/index.ts';

/** Above this many tokens, the answers of local models usually get worse. */
export const maxGoodLocalContext = 32_768;

/** The share of the context window that one turn may add without a warning. */
const maxTurnShare = 0.25;

/** What a warning depends on, after a turn. */
export type ContextUse = {
  readonly ref: { readonly provider: string; readonly model: string };
  /** Tokens of the context now. */
  readonly used: number;
  /** The context window in tokens, if it is known. */
  readonly window?: number | undefined;
};

/** Returns a function to call after each turn; it returns new warnings, each once until the context is small again. */
export function createContextWarnings(): (use: ContextUse) => readonly string[] {
  let before: number | undefined;
  let hasWarnedLocal = false;
  let hasWarnedGrowth = false;
  return ({ ref, used, window }) => {
    const growth = before === undefined ? 0 : used - before;
    before = used;
    // Ollama forwards models with such a name to its paid service.
    const isLarge =
      used > maxGoodLocalContext && findFamily(ref.provider)?.local === true && !ref.model.endsWith('cloud');
    const isFast = window !== undefined && growth > window * maxTurnShare && used > window / 2;
    const warnings = [
      ...(isLarge && !hasWarnedLocal ? [formatLargeLocalContext(used)] : []),
      ...(isFast && !hasWarnedGrowth ? [formatFastGrowth(growth, window)] : []),
    ];
    hasWarnedLocal = used > maxGoodLocalContext && (hasWarnedLocal || isLarge);
    hasWarnedGrowth = (isFast || hasWarnedGrowth) && !(window !== undefined && used <= window / 2);
    return warnings;
  };
}

const formatCount = (tokens: number): string => tokens.toLocaleString('en-US');

const formatLargeLocalContext = (used: number): string =>
  `The context has ${formatCount(used)} tokens. Above 32K tokens the answers of local models usually get worse: shorten it with /compact, begin a new session, or use a hosted model.`;

const formatFastGrowth = (growth: number, window: number): string =>
  `The context fills fast: the last turn added ${formatCount(growth)} tokens, ${Math.round((growth / window) * 100)}% of the window of ${formatCount(window)}. When it is full, older messages are summarized. /context shows what fills it; the setting limits.tokens is a budget for a run.`;
