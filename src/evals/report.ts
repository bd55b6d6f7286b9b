// The eval report: rates with confidence intervals, overall and per tag, as data and as a table.
import { computeRate, type Rate } from '../fleet/health/index.ts';
import { formatColumns } from '../core/index.ts';
import type { EvalCaseResult } from './runner.ts';

/** An eval report. */
export type EvalReport = {
  readonly format: 1;
  readonly dataset: string;
  readonly model: string;
  readonly when: string;
  /** Correct cases, of those with a model response. */
  readonly right: Rate;
  /** Wrong answers, of all answers given. */
  readonly falseAccepts: Rate;
  /** Abstentions, of the cases with a model response. */
  readonly abstained: Rate;
  /** Abstentions, of the cases in which abstaining was correct. */
  readonly abstainedWhereDue: Rate;
  /** Cases without a model response, which measure nothing. */
  readonly withoutResponse: number;
  readonly tags: Readonly<Record<string, Rate>>;
  readonly cases: readonly EvalCaseResult[];
};

/** Creates the report of case results. */
export function createEvalReport(
  about: Pick<EvalReport, 'dataset' | 'model' | 'when'>,
  cases: readonly EvalCaseResult[],
): EvalReport {
  const responded = cases.filter((each) => each.responded);
  const given = responded.filter(({ abstained, reason }) => !abstained && isAnswer(reason));
  const due = responded.filter((each) => each.shouldAbstain);
  const tags = [...new Set(responded.flatMap((each) => each.tags))].toSorted();
  const share = (some: readonly EvalCaseResult[], is: (each: EvalCaseResult) => boolean): Rate =>
    computeRate({ good: some.filter(is).length, total: some.length });
  return {
    format: 1,
    ...about,
    right: share(responded, ({ right }) => right),
    falseAccepts: share(given, ({ right }) => !right),
    abstained: share(responded, ({ abstained }) => abstained),
    abstainedWhereDue: share(due, ({ abstained }) => abstained),
    withoutResponse: cases.length - responded.length,
    tags: Object.fromEntries(
      tags.map((tag) => [
        tag,
        share(
          responded.filter((each) => each.tags.includes(tag)),
          ({ right }) => right,
        ),
      ]),
    ),
    cases,
  };
}

const isAnswer = (reason: string): boolean => reason === 'answered' || reason === 'task-complete';

const formatPercent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** Formats a rate with its counts and its confidence interval. */
export function formatRate({ good, total, rate, interval: [low, high] }: Rate): string {
  if (rate === null) return 'not measured';
  return `${good} of ${total}, ${formatPercent(rate)} (${formatPercent(low)} to ${formatPercent(high)})`;
}

/** Formats the report as a table. */
export function formatEvalReport(report: EvalReport): string {
  const { right, falseAccepts, abstained, abstainedWhereDue, tags, cases, withoutResponse } = report;
  const wrong = cases.filter((each) => !each.right);
  const rows = [
    ...Object.entries(tags).map(([tag, rate]) => [tag, formatRate(rate)]),
    ['right in all', formatRate(right)],
    ['false accepts', formatRate(falseAccepts)],
    ['abstained', formatRate(abstained)],
    ['abstained where due', formatRate(abstainedWhereDue)],
  ];
  return [
    `${report.dataset} with ${report.model}: ${cases.length} cases; in brackets, 95 % intervals\n`,
    formatColumns(rows),
    ...wrong.map(
      ({ id, errors, text }) => `wrong: ${id}: ${errors.join(' ')}${text ? ` It said: ${excerpt(text)}` : ''}\n`,
    ),
    ...(withoutResponse > 0
      ? [`The model did not respond in ${withoutResponse} cases; they were not measured.\n`]
      : []),
  ].join('');
}

const excerpt = (text: string): string => JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
