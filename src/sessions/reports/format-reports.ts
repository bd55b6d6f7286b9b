// Formats the context, cache and cost reports as text.
import type { CacheReport, ContextBreakdown, CacheMissReason } from './context-usage.ts';
import type { CostTotals, CostReport } from './cost-report.ts';

const formatTokens = (tokens: number): string => tokens.toLocaleString('en-US');

/** Formats the context report, largest first, with cache misses. */
export function formatContextBreakdown(breakdown: ContextBreakdown, cache?: CacheReport): string {
  const { shares, tokens, countedTokens, window, largest } = breakdown;
  const of =
    window === undefined
      ? 'of a window whose size is unknown'
      : `of ${formatTokens(window)} (${formatPercent(countedTokens, window)})`;
  return [
    `Context: ${formatTokens(countedTokens)} tokens ${of}. By our estimate:`,
    ...shares
      .toSorted((a, b) => b.tokens - a.tokens)
      .map((share) => formatShare(share.category, share.tokens, tokens, share.count)),
    ...(largest.length ? ['', 'Largest tool results:'] : []),
    ...largest.map(({ tool, tokens: size, preview }) => `  ${formatTokens(size).padStart(9)}  ${tool}: ${preview}`),
    ...(cache ? ['', ...formatCacheReport(cache)] : []),
  ].join('\n');
}

const formatShare = (category: string, tokens: number, total: number, times: number): string =>
  `  ${formatTokens(tokens).padStart(9)}  ${formatPercent(tokens, total).padStart(4)}  ${category}${times > 1 ? ` (${times})` : ''}`;

const formatPercent = (part: number, total: number): string => `${total > 0 ? Math.round((100 * part) / total) : 0}%`;

const missReasonTexts: Readonly<Record<CacheMissReason, string>> = {
  compacted: 'the conversation was made shorter',
  'model-changed': 'the model was changed',
  'agent-changed': 'the system text or the tools changed',
  edited: 'the conversation was edited or went back',
  expired: 'more than five minutes had passed, so it had probably expired',
  untold: 'nothing changed on our side; the provider does not say why',
};

function formatCacheReport({ misses, turns, unreportedTurns }: CacheReport): readonly string[] {
  if (turns === 0) return ['Cache: no turn yet on this branch.'];
  if (unreportedTurns === turns) return ['Cache: the provider does not say what it read from its cache.'];
  if (misses.length === 0) return ['Cache: every turn read at least as much from it as the one before.'];
  const shown = misses.slice(-10);
  return [
    `Cache: ${misses.length} of ${turns} turns read less from it than the one before.`,
    ...shown.map(
      ({ turn, before, now, reason }) =>
        `  turn ${turn}: ${formatTokens(before)} to ${formatTokens(now)} tokens: ${missReasonTexts[reason]}.`,
    ),
  ];
}

/** Formats the cost report by model. */
export function formatCosts({ total, models, turns }: CostReport): string {
  if (turns.length === 0) return 'Nothing was used yet.';
  const abandonedTurns = turns.filter((each) => each.abandoned).length;
  return [
    `Total: ${formatCost(total)}`,
    ...models.map(({ model, cost }) => `  ${model}: ${formatCost(cost)}`),
    ...(abandonedTurns ? [`Of these, on branches that are no longer continued: ${abandonedTurns}.`] : []),
  ].join('\n');
}

function formatCost(cost: CostTotals): string {
  const { turns, input, output, cacheRead, uncounted } = cost;
  const cached = cacheRead ? ` (${formatTokens(cacheRead)} from the cache)` : '';
  const unknown = uncounted ? `, ${uncounted} uncounted` : '';
  return `${formatCostAmount(cost)}, ${turns} turn${turns === 1 ? '' : 's'}${unknown}, ${formatTokens(input)} tokens in${cached}, ${formatTokens(output)} out`;
}

function formatCostAmount({ turns, usd, estimatedUsd, unpriced }: CostTotals): string {
  if (unpriced > 0 && unpriced >= turns) return 'price unknown';
  const known = [
    ...(usd > 0 || estimatedUsd === 0 ? [formatUsd(usd)] : []),
    ...(estimatedUsd > 0 ? [`about ${formatUsd(estimatedUsd)} by estimate`] : []),
  ].join(' and ');
  return unpriced > 0 ? `${known} and ${unpriced} turn${unpriced === 1 ? '' : 's'} of unknown price` : known;
}

const formatUsd = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 4)}`;
