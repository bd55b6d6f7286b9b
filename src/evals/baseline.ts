// Regression gate: compares an eval report with a baseline by confidence intervals, corrected for multiple tags.
import { readFileSync } from 'node:fs';
import { FairleadError, isObject, errorMessage, formatColumns } from '../core/index.ts';
import { holm, newcombeInterval, type RateCount, type Interval } from '../fleet/health/index.ts';
import { createEvalReport, type EvalReport } from './report.ts';
import { createCaseResult } from './results.ts';

/** The change of one rate of correct answers. */
export type RateChange = {
  readonly of: string;
  readonly now: RateCount;
  readonly before: RateCount;
  readonly value: number;
  readonly interval: Interval;
  readonly verdict: 'worse' | 'better' | 'no-clear-change';
};

/** The comparison of a report with its baseline. */
export type BaselineComparison = {
  readonly changes: readonly RateChange[];
  /** Cases that were correct and are wrong now. */
  readonly broken: readonly string[];
  /** True if a rate is worse with statistical confidence. */
  readonly worse: boolean;
};

/** The part of a report that a baseline needs. */
export type EvalBaseline = Pick<EvalReport, 'right' | 'tags'> & {
  readonly cases: readonly { readonly id: string; readonly right: boolean }[];
};

/** Reads a baseline file: the output of `fairlead evals --output-format json`, of this version or of format 1, whose cases have no trials. */
export const readBaseline = (file: string): EvalBaseline =>
  readReportFile(file, (value) => value['format'] === 1 || value['format'] === 2) as unknown as EvalBaseline;

/** Reads a report of format 2, with the trials of each case. A report of format 1 becomes one with a single trial of each case. */
export function readEvalReport(file: string): EvalReport {
  const value = readReportFile(file, ({ format, cases }) => format === 1 || (format === 2 && hasTrials(cases)));
  if (value['format'] === 2) return value as unknown as EvalReport;
  const { dataset, model, when, cases } = value as unknown as EvalReport;
  const withTrials = cases.map(({ id, tags, shouldAbstain, ...trial }) =>
    createCaseResult({ id, tags, expect: { abstains: shouldAbstain } }, [{ ...trial, trial: 1 }]),
  );
  return createEvalReport({ dataset, model, when }, withTrials);
}

function readReportFile(
  file: string,
  isKnown: (value: Readonly<Record<string, unknown>>) => boolean,
): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (
      isObject(value) &&
      isKnown(value) &&
      isCount(value['right']) &&
      isCounts(value['tags']) &&
      isCases(value['cases'])
    )
      return value;
    throw new Error('it is not an eval report');
  } catch (error) {
    throw new FairleadError('eval/bad-baseline', `The baseline ${file} cannot be used: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Make one with: fairlead evals --output-format json > baseline.json',
    });
  }
}

const hasTrials = (cases: unknown): boolean =>
  Array.isArray(cases) &&
  cases.every(
    (each) =>
      isObject(each) &&
      Array.isArray(each['tags']) &&
      Array.isArray(each['trials']) &&
      each['trials'].length > 0 &&
      each['trials'].every(
        (trial) => isObject(trial) && typeof trial['responded'] === 'boolean' && typeof trial['right'] === 'boolean',
      ),
  );

function isCount(value: unknown): boolean {
  const { good, total } = isObject(value) ? value : {};
  return (
    Number.isSafeInteger(good) && Number.isSafeInteger(total) && Number(good) >= 0 && Number(total) >= Number(good)
  );
}

const isCounts = (value: unknown): boolean => isObject(value) && Object.values(value).every(isCount);

const isCases = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((each) => isObject(each) && typeof each['id'] === 'string' && typeof each['right'] === 'boolean');

/** Compares a report with a baseline. */
export function compareToBaseline(report: EvalReport, baseline: EvalBaseline): BaselineComparison {
  const tags = Object.keys(report.tags).filter((tag) => Object.hasOwn(baseline.tags, tag));
  const pairs = [
    { of: 'in all', now: report.right as RateCount, before: baseline.right as RateCount },
    ...tags.map((tag) => ({ of: tag, now: report.tags[tag] as RateCount, before: baseline.tags[tag] as RateCount })),
  ].filter(({ now, before }) => now.total > 0 && before.total > 0);
  const answers = holm(
    pairs.map(({ now, before }) => ({ interval: (deviate) => newcombeInterval(now, before, deviate), margin: 0 })),
  );
  const changes = pairs.map(({ of, now, before }, i): RateChange => {
    const { differs = false, interval = [-1, 1] as const } = answers[i] ?? {};
    const value = now.good / now.total - before.good / before.total;
    return { of, now, before, value, interval, verdict: !differs ? 'no-clear-change' : value < 0 ? 'worse' : 'better' };
  });
  const right = new Set(baseline.cases.filter((each) => each.right).map(({ id }) => id));
  return {
    changes,
    broken: report.cases.filter((each) => each.responded && !each.right && right.has(each.id)).map(({ id }) => id),
    worse: changes.some(({ verdict }) => verdict === 'worse'),
  };
}

const formatPoints = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(0)}`;

/** Formats the comparison as text. */
export function formatComparison({ changes, broken }: BaselineComparison): string {
  const rows = changes.map(({ of, now, before, value, interval: [low, high], verdict }) => [
    of,
    `${before.good} of ${before.total} → ${now.good} of ${now.total}`,
    `${formatPoints(value)} points (${formatPoints(low)} to ${formatPoints(high)})`,
    verdict.replaceAll('-', ' '),
  ]);
  const list = broken.length > 0 ? `Right in the baseline and wrong now: ${broken.join(', ')}\n` : '';
  return `Against the baseline:\n${formatColumns(rows)}${list}`;
}
