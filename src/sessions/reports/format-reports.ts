// Formats the context, cache and cost reports as text.
import { escapeInvisibleLine, formatColumns } from '../../core/index.ts';
import type { CacheLedger, CacheTurn, PrefixBreak } from './cache-ledger.ts';
import type { ContextBreakdown } from './context-usage.ts';
import type { CostTotals, CostReport } from './cost-report.ts';

const formatTokens = (tokens: number): string => tokens.toLocaleString('en-US');

/** Formats the context report, largest first, with cache misses. */
export function formatContextBreakdown(breakdown: ContextBreakdown, cache?: CacheLedger): string {
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

const breakTexts: Readonly<Record<PrefixBreak, string>> = {
  compaction: 'the conversation was made shorter',
  model: 'the model was changed',
  'system-prompt': 'the system prompt changed',
  tools: 'the tools changed',
  'edited-history': 'the conversation was edited or went back',
  expired: 'more than five minutes had passed, so it had probably expired',
  small: 'the prompt was too short for a cache',
  unknown: 'nothing changed on our side; the provider does not say why',
};

const formatBreaks = ({ breaks, detail }: CacheTurn): string =>
  `${breaks.map((each) => breakTexts[each]).join('; ')}${detail === undefined ? '' : ` (${escapeInvisibleLine(detail)})`}`;

function formatCacheReport({ turns }: CacheLedger): readonly string[] {
  if (turns.length === 0) return ['Cache: no turn yet on this branch.'];
  if (turns.every(({ result }) => result === 'unreported'))
    return ['Cache: the provider does not say what it read from its cache.'];
  const misses = turns.flatMap((turn, i) => (turn.lostTokens > 0 ? [{ turn, before: turns[i - 1] }] : []));
  if (misses.length === 0) return ['Cache: every turn read at least as much from it as the one before.'];
  return [
    `Cache: ${misses.length} of ${turns.length} turns read less from it than the one before.`,
    ...misses.slice(-10).map(({ turn }) => {
      const before = (turn.cacheRead ?? 0) + turn.lostTokens;
      return `  turn ${turn.turn}: ${formatTokens(before)} to ${formatTokens(turn.cacheRead ?? 0)} tokens: ${formatBreaks(turn)}.`;
    }),
  ];
}

/** Formats the cache ledger: one line for each turn, and the sums. */
export function formatCacheLedger(ledger: CacheLedger): string {
  const { turns, hits, misses, input, cacheRead, cacheWrite, lostTokens, savedUsd, lostUsd } = ledger;
  if (turns.length === 0) return 'There is no turn yet on this branch.';
  const count = (value: number | undefined): string => (value === undefined ? '?' : formatTokens(value));
  const rows = turns.map((turn) => [
    String(turn.turn),
    turn.result,
    count(turn.input),
    count(turn.cacheRead),
    count(turn.cacheWrite),
    turn.savedUsd === undefined ? '?' : formatUsd(turn.savedUsd),
    turn.result === 'miss' ? `${formatTokens(turn.lostTokens)} lost: ${formatBreaks(turn)}` : '',
  ]);
  const share = input > 0 ? ` (${Math.round((100 * cacheRead) / input)} % of the input)` : '';
  const money =
    savedUsd === undefined
      ? 'The price of the model is not known.'
      : `Saved ${formatUsd(savedUsd)}, lost ${formatUsd(lostUsd ?? 0)}.`;
  return [
    formatColumns([['turn', 'cache', 'input', 'read', 'written', 'saved', 'why'], ...rows]).trimEnd(),
    '',
    `${hits} hit${hits === 1 ? '' : 's'} and ${misses} miss${misses === 1 ? '' : 'es'} in ${turns.length} turn${turns.length === 1 ? '' : 's'}: ${formatTokens(cacheRead)} tokens read${share}, ${formatTokens(cacheWrite)} written, ${formatTokens(lostTokens)} lost. ${money}`,
  ].join('\n');
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

const formatUsd = (usd: number): string =>
  `${usd < 0 ? '-' : ''}$${Math.abs(usd).toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 6 : 4)}`;
