// Compares two reports over the same cases: two models, two settings or two rule sets. The cases are pairs, and their trials belong together.
import { formatColumns } from '../core/index.ts';
import { comparePairs, type PairedDifference } from '../fleet/health/index.ts';
import type { EvalCaseResult } from './results.ts';
import { formatSeconds, type EvalReport } from './report.ts';

/** A case whose rate differs. */
export type CaseChange = { readonly id: string; readonly before: number; readonly after: number };

/** The comparison of two reports. */
export type EvalComparison = {
  readonly before: Pick<EvalReport, 'dataset' | 'model' | 'when' | 'cost' | 'latencyMs'>;
  readonly after: Pick<EvalReport, 'dataset' | 'model' | 'when' | 'cost' | 'latencyMs'>;
  /** The difference over all cases that both measured. */
  readonly all: PairedDifference;
  readonly tags: Readonly<Record<string, PairedDifference>>;
  readonly worse: readonly CaseChange[];
  readonly better: readonly CaseChange[];
  /** The cases that only one report measured; they are not compared. */
  readonly unpaired: readonly string[];
  /** `worse` or `better` if the whole interval is on one side of 0. */
  readonly verdict: 'worse' | 'better' | 'no-clear-change';
};

/** Compares two reports case by case. */
export function compareReports(before: EvalReport, after: EvalReport): EvalComparison {
  const rates = new Map(before.cases.flatMap((each) => withRate(each)));
  const pairs = after.cases.flatMap((each) => {
    const [own] = withRate(each);
    const other = rates.get(each.id);
    return own && other !== undefined ? [{ id: each.id, tags: each.tags, before: other, after: own[1] }] : [];
  });
  const paired = new Set(pairs.map(({ id }) => id));
  const compare = (some: typeof pairs): PairedDifference =>
    comparePairs(some.map((each) => [each.before, each.after] as const));
  const all = compare(pairs);
  const tags = [...new Set(pairs.flatMap((each) => each.tags))].toSorted();
  const change = ({ id, before: from, after: to }: (typeof pairs)[number]): CaseChange => ({
    id,
    before: from,
    after: to,
  });
  return {
    before: getAbout(before),
    after: getAbout(after),
    all,
    tags: Object.fromEntries(tags.map((tag) => [tag, compare(pairs.filter((each) => each.tags.includes(tag)))])),
    worse: pairs.filter((each) => each.after < each.before).map(change),
    better: pairs.filter((each) => each.after > each.before).map(change),
    unpaired: [...new Set([...before.cases, ...after.cases].map(({ id }) => id))].filter((id) => !paired.has(id)),
    verdict:
      all.pairs === 0
        ? 'no-clear-change'
        : all.interval[1] < 0
          ? 'worse'
          : all.interval[0] > 0
            ? 'better'
            : 'no-clear-change',
  };
}

const getAbout = ({ dataset, model, when, cost, latencyMs }: EvalReport): EvalComparison['before'] => ({
  dataset,
  model,
  when,
  cost,
  ...(latencyMs ? { latencyMs } : {}),
});

/** The share of right trials of a case, if the model responded in one. */
function withRate({ id, trials }: EvalCaseResult): readonly (readonly [string, number])[] {
  const measured = trials.filter(({ responded }) => responded);
  return measured.length === 0 ? [] : [[id, measured.filter(({ right }) => right).length / measured.length]];
}

const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

const formatDifference = ({ pairs, value, interval: [low, high], pValue }: PairedDifference): readonly string[] => [
  `${pairs} cases`,
  `${points(value)} points (${points(low)} to ${points(high)})`,
  formatPValue(pValue),
];

/** Formats a p-value; small ones as `p < 0.001`. */
export const formatPValue = (pValue: number): string => (pValue < 0.001 ? 'p < 0.001' : `p = ${pValue.toFixed(3)}`);

/** Formats a comparison as one line. */
export const formatComparisonLine = ({ before, after, all, verdict, worse, better }: EvalComparison): string =>
  `${before.model} → ${after.model}: ${formatDifference(all).slice(1).join(', ')}, ${all.pairs} cases; ${worse.length} worse, ${better.length} better: ${verdict.replaceAll('-', ' ')}.`;

const maxNamed = 20;

const formatChanges = (title: string, changes: readonly CaseChange[]): string => {
  if (changes.length === 0) return '';
  const shown = changes
    .slice(0, maxNamed)
    .map(({ id, before, after }) => `${id} (${(100 * before).toFixed(0)} % → ${(100 * after).toFixed(0)} %)`);
  const more = changes.length > maxNamed ? ` and ${changes.length - maxNamed} more` : '';
  return `${title}: ${shown.join(', ')}${more}\n`;
};

/** Formats a comparison as text. */
export function formatEvalComparison(comparison: EvalComparison): string {
  const { before, after, all, tags, worse, better, unpaired, verdict } = comparison;
  const use = ({ cost, latencyMs }: EvalComparison['before']): string =>
    `$${cost.usd.toFixed(4)}${latencyMs ? `, ${formatSeconds(latencyMs.p50)} median` : ''}`;
  return [
    `${before.model} (${before.when}) → ${after.model} (${after.when}), ${after.dataset}; in brackets, 95 % intervals\n`,
    formatColumns([
      ...Object.entries(tags).map(([tag, difference]) => [tag, ...formatDifference(difference)]),
      ['all cases', ...formatDifference(all)],
    ]),
    `${use(before)} → ${use(after)}\n`,
    formatChanges('Worse', worse),
    formatChanges('Better', better),
    unpaired.length > 0 ? `${unpaired.length} cases were measured in one report only and are not compared.\n` : '',
    `Verdict: ${verdict.replaceAll('-', ' ')}.\n`,
  ].join('');
}
