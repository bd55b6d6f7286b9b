// The reports on context, cache and cost as a person reads them.
import type { CacheReport, Fill, MissReason } from './context.ts';
import type { Cost, Costs } from './costs.ts';

const count = (tokens: number): string => tokens.toLocaleString('en-US');

/** What fills the window, largest first, and why the cache missed. */
export function contextText(fill: Fill, cache?: CacheReport): string {
  const { shares, tokens, counted, window, largest } = fill;
  const of =
    window === undefined ? 'of a window whose size is unknown' : `of ${count(window)} (${percent(counted, window)})`;
  return [
    `Context: ${count(counted)} tokens ${of}. By our estimate:`,
    ...shares
      .toSorted((a, b) => b.tokens - a.tokens)
      .map((share) => rowOf(share.what, share.tokens, tokens, share.count)),
    ...(largest.length ? ['', 'Largest tool results:'] : []),
    ...largest.map(({ tool, tokens: size, words }) => `  ${count(size).padStart(9)}  ${tool}: ${words}`),
    ...(cache ? ['', ...cacheLines(cache)] : []),
  ].join('\n');
}

const rowOf = (what: string, tokens: number, all: number, times: number): string =>
  `  ${count(tokens).padStart(9)}  ${percent(tokens, all).padStart(4)}  ${what}${times > 1 ? ` (${times})` : ''}`;

const percent = (part: number, whole: number): string => `${whole > 0 ? Math.round((100 * part) / whole) : 0}%`;

const reasons: Readonly<Record<MissReason, string>> = {
  compacted: 'the conversation was made shorter',
  'model-changed': 'the model was changed',
  'agent-changed': 'the system text or the tools changed',
  edited: 'the conversation was edited or went back',
  expired: 'more than five minutes had passed, so it had probably expired',
  untold: 'nothing changed on our side; the provider does not say why',
};

function cacheLines({ misses, turns, untold }: CacheReport): readonly string[] {
  if (turns === 0) return ['Cache: no turn yet on this branch.'];
  if (untold === turns) return ['Cache: the provider does not say what it read from its cache.'];
  if (misses.length === 0) return ['Cache: every turn read at least as much from it as the one before.'];
  const told = misses.slice(-10);
  return [
    `Cache: ${misses.length} of ${turns} turns read less from it than the one before.`,
    ...told.map(
      ({ turn, before, now, reason }) =>
        `  turn ${turn}: ${count(before)} to ${count(now)} tokens: ${reasons[reason]}.`,
    ),
  ];
}

/** What the session has cost, by model. */
export function costsText({ total, models, turns }: Costs): string {
  if (turns.length === 0) return 'Nothing was used yet.';
  const lost = turns.filter((each) => each.abandoned).length;
  return [
    `Total: ${costLine(total)}`,
    ...models.map(({ model, cost }) => `  ${model}: ${costLine(cost)}`),
    ...(lost ? [`Of these, on branches that are no longer continued: ${lost}.`] : []),
  ].join('\n');
}

function costLine(cost: Cost): string {
  const { turns, input, output, cacheRead, uncounted } = cost;
  const cached = cacheRead ? ` (${count(cacheRead)} from the cache)` : '';
  const unknown = uncounted ? `, ${uncounted} uncounted` : '';
  return `${money(cost)}, ${turns} turn${turns === 1 ? '' : 's'}${unknown}, ${count(input)} tokens in${cached}, ${count(output)} out`;
}

function money({ turns, usd, estimatedUsd, unpriced }: Cost): string {
  if (unpriced > 0 && unpriced >= turns) return 'price unknown';
  const known = [
    ...(usd > 0 || estimatedUsd === 0 ? [dollars(usd)] : []),
    ...(estimatedUsd > 0 ? [`about ${dollars(estimatedUsd)} by estimate`] : []),
  ].join(' and ');
  return unpriced > 0 ? `${known} and ${unpriced} turn${unpriced === 1 ? '' : 's'} of unknown price` : known;
}

const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 4)}`;
