// The eval report: rates with confidence intervals, overall and per tag, with cost, latency and tokens, as data and as a table.
import { computeClusteredRate, computePercentiles, type Rate, type RateCount } from '../fleet/health/index.ts';
import { formatColumns } from '../core/index.ts';
import type { EvalCaseResult, EvalTrial } from './results.ts';

/** A duration in milliseconds that half, and 95 of 100, of the trials did not exceed. */
export type EvalLatency = { readonly p50: number; readonly p95: number };

/** What the trials used together. */
export type EvalCost = {
  readonly usd: number;
  /** The cost of the judges, which is not part of `usd`. */
  readonly judgeUsd: number;
  /** Trials whose cost is unknown, because the model has no price. */
  readonly trialsWithoutPrice: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
};

/** An eval report. Rates count trials; their intervals take into account that trials of one case are alike. */
export type EvalReport = {
  readonly format: 2;
  readonly dataset: string;
  readonly model: string;
  readonly when: string;
  /** The models as the provider named them in its responses: a version behind a name. */
  readonly servedModels?: readonly string[];
  /** Correct trials, of those with a model response. */
  readonly right: Rate;
  /** Wrong answers, of all answers given. */
  readonly falseAccepts: Rate;
  /** Abstentions, of the trials with a model response. */
  readonly abstained: Rate;
  /** Abstentions, of the trials in which abstaining was correct. */
  readonly abstainedWhereDue: Rate;
  /** Cases of which every trial was correct, of the cases with a model response. */
  readonly reliable: Rate;
  /** Trials without a model response, which measure nothing. */
  readonly withoutResponse: number;
  readonly tags: Readonly<Record<string, Rate>>;
  readonly latencyMs?: EvalLatency;
  readonly cost: EvalCost;
  /** True if the evaluation was ended before all trials were run. */
  readonly interrupted?: boolean;
  readonly cases: readonly EvalCaseResult[];
};

/** What a report is about. */
export type EvalReportAbout = Pick<EvalReport, 'dataset' | 'model' | 'when' | 'interrupted'>;

/** Creates the report of case results. */
export function createEvalReport(about: EvalReportAbout, cases: readonly EvalCaseResult[]): EvalReport {
  const responded = cases.filter((each) => each.responded);
  const tags = [...new Set(responded.flatMap((each) => each.tags))].toSorted();
  const measured = cases.flatMap(({ trials }) => trials).filter((trial) => trial.responded);
  const servedModels = [...new Set(measured.flatMap(({ servedModel }) => servedModel ?? []))].toSorted();
  const latencyMs = computePercentiles(measured.map(({ durationMs }) => durationMs));
  const right = (of: readonly EvalCaseResult[]): Rate => rateOf(of, isMeasured, (trial) => trial.right);
  return {
    format: 2,
    dataset: about.dataset,
    model: about.model,
    when: about.when,
    ...(servedModels.length > 0 ? { servedModels } : {}),
    right: right(responded),
    falseAccepts: rateOf(responded, isAnswer, (trial) => !trial.right),
    abstained: rateOf(responded, isMeasured, ({ abstained }) => abstained),
    abstainedWhereDue: rateOf(
      responded.filter(({ shouldAbstain }) => shouldAbstain),
      isMeasured,
      ({ abstained }) => abstained,
    ),
    reliable: computeClusteredRate(responded.map((each) => ({ good: each.right ? 1 : 0, total: 1 }))),
    withoutResponse: cases.reduce((sum, { trials }) => sum + trials.filter((each) => !each.responded).length, 0),
    tags: Object.fromEntries(tags.map((tag) => [tag, right(responded.filter((each) => each.tags.includes(tag)))])),
    ...(latencyMs ? { latencyMs: { p50: latencyMs.p50.value, p95: latencyMs.p95.value } } : {}),
    cost: sumCost(cases.flatMap(({ trials }) => trials)),
    ...(about.interrupted ? { interrupted: true } : {}),
    cases,
  };
}

const isMeasured = ({ responded }: EvalTrial): boolean => responded;

const isAnswer = ({ responded, abstained, reason }: EvalTrial): boolean =>
  responded && !abstained && (reason === 'answered' || reason === 'task-complete');

/** The rate of the trials of cases; each case is a cluster. */
function rateOf(
  cases: readonly EvalCaseResult[],
  counts: (trial: EvalTrial) => boolean,
  isGood: (trial: EvalTrial) => boolean,
): Rate {
  const clusters = cases.map(({ trials }): RateCount => {
    const counted = trials.filter(counts);
    return { good: counted.filter(isGood).length, total: counted.length };
  });
  return computeClusteredRate(clusters);
}

function sumCost(trials: readonly EvalTrial[]): EvalCost {
  const sum = (of: (trial: EvalTrial) => number | undefined): number =>
    trials.reduce((total, trial) => total + (of(trial) ?? 0), 0);
  return {
    usd: sum(({ costUsd }) => costUsd),
    judgeUsd: sum(({ judgeUsd }) => judgeUsd),
    trialsWithoutPrice: trials.filter(({ responded, costUsd }) => responded && costUsd === undefined).length,
    inputTokens: sum(({ usage }) => usage?.inputTokens),
    outputTokens: sum(({ usage }) => usage?.outputTokens),
    cacheReadTokens: sum(({ usage }) => usage?.cacheReadTokens),
  };
}

const formatPercent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** Formats a rate with its counts and its confidence interval. */
export function formatRate({ good, total, rate, interval: [low, high] }: Rate): string {
  if (rate === null) return 'not measured';
  return `${good} of ${total}, ${formatPercent(rate)} (${formatPercent(low)} to ${formatPercent(high)})`;
}

/** Formats the report as a table. */
export function formatEvalReport(report: EvalReport): string {
  const { right, falseAccepts, abstained, abstainedWhereDue, reliable, tags, cases, withoutResponse } = report;
  const wrong = cases.filter((each) => !each.right);
  const trials = cases.reduce((sum, each) => sum + each.trials.length, 0);
  const isRepeated = trials > cases.length;
  const rows = [
    ...Object.entries(tags).map(([tag, rate]) => [tag, formatRate(rate)]),
    ['right in all', formatRate(right)],
    ...(isRepeated ? [['right in every trial', formatRate(reliable)]] : []),
    ['false accepts', formatRate(falseAccepts)],
    ['abstained', formatRate(abstained)],
    ['abstained where due', formatRate(abstainedWhereDue)],
    ...formatUse(report),
  ];
  const counted = `${cases.length} cases${isRepeated ? `, ${trials} trials` : ''}`;
  return [
    `${report.dataset} with ${report.model}: ${counted}; in brackets, 95 % intervals\n`,
    formatColumns(rows),
    ...wrong.map((each) => `wrong: ${formatWrongCase(each)}\n`),
    ...(withoutResponse > 0
      ? [
          `The model did not respond in ${withoutResponse} ${isRepeated ? 'trials' : 'cases'}; they were not measured.\n`,
        ]
      : []),
    ...(report.interrupted ? ['The evaluation was ended before all trials were run.\n'] : []),
  ].join('');
}

function formatWrongCase({ id, errors, text, trials }: EvalCaseResult): string {
  const failed = trials.filter(({ responded, right }) => responded && !right).length;
  const count = trials.length > 1 ? ` (${failed} of ${trials.length} trials)` : '';
  return `${id}${count}: ${errors.join(' ')}${text ? ` It said: ${excerpt(text)}` : ''}`;
}

/** The rows of time, tokens and cost. */
function formatUse({ latencyMs, cost }: EvalReport): readonly (readonly string[])[] {
  const { usd, judgeUsd, trialsWithoutPrice, inputTokens, outputTokens } = cost;
  const unknown = trialsWithoutPrice > 0 ? `; unknown in ${trialsWithoutPrice} trials` : '';
  const judges = judgeUsd > 0 ? `, and $${judgeUsd.toFixed(4)} of the judges` : '';
  return [
    ...(latencyMs
      ? [['time', `${formatSeconds(latencyMs.p50)} median, ${formatSeconds(latencyMs.p95)} 95th percentile`]]
      : []),
    ['tokens', `${inputTokens} in, ${outputTokens} out`],
    ['cost', `$${usd.toFixed(4)}${judges}${unknown}`],
  ];
}

/** Formats milliseconds as seconds. */
export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

const excerpt = (text: string): string => JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
