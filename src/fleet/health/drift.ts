// Drift monitor: compares today's rates and latencies with the week before, with one family-wise error rate for all.
import type { RunStats } from '../../core/index.ts';
import {
  holm,
  type HolmResult,
  type HolmTest,
  newcombeInterval,
  computeRate,
  type Interval,
  type Rate,
  pairwiseDifferences,
  hodgesLehmannInterval,
  medianOfSorted,
} from './statistics.ts';
import { getOutcomeCount, countOutcomes, type OutcomeClass } from './outcomes.ts';

/** `drifted`: the change is significant and larger than its margin. */
export type DriftVerdict = 'steady' | 'drifted' | 'not enough data';

/** The change of one figure against the week before. */
export type Drift = {
  readonly id: string;
  readonly description: string;
  /** Whether the change is a difference of rates or a ratio of durations. */
  readonly kind: 'difference' | 'ratio';
  readonly today: Rate | Latency;
  readonly baseline: Rate | Latency;
  /** The change, and its interval at the confidence level of the test; absent if there are too few runs. */
  readonly change?: { readonly value: number; readonly interval: Interval; readonly confidence: number };
  readonly verdict: DriftVerdict;
};

/** A latency over several time buckets: the median of their 95th percentiles. */
export type Latency = { readonly buckets: number; readonly runs: number; readonly ms: number | null };

/** Margins and minimum sample sizes. */
export type DriftOptions = {
  /** The largest difference of rates that is not drift; 0.01 by default. */
  readonly rateMargin?: number;
  /** The largest ratio of latencies that is not drift; 1.1 by default. */
  readonly ratioMargin?: number;
  /** The minimum number of runs; 30 and 100 by default. */
  readonly runs?: readonly [today: number, baseline: number];
  /** The minimum number of buckets with enough runs; 6 and 24 by default. */
  readonly buckets?: readonly [today: number, baseline: number];
};

const rateFigures = [
  ['errors', 'error', 'runs that failed'],
  ['abstained', 'abstained', 'runs that abstained'],
  ['limited', 'limited', 'runs that reached a limit'],
] as const satisfies readonly (readonly [string, Exclude<OutcomeClass, 'cancelled'>, string])[];

const latencyFigures = [
  ['queueMs', 'the 95th percentile of the time in the queue'],
  ['durationMs', 'the 95th percentile of the run time'],
] as const;

/** Buckets with fewer runs are too small for a 95th percentile. */
const minRunsPerBucket = 5;

type DriftCandidate = { readonly drift: Omit<Drift, 'verdict' | 'change'>; readonly test?: DriftTest };
type DriftTest = HolmTest & { readonly value: number; readonly read: (change: number) => number };

/** Compares the buckets of today with those of the baseline. */
export function computeDrift(
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  options: DriftOptions = {},
): readonly Drift[] {
  const candidates = [
    ...rateFigures.map(([id, outcome, description]) =>
      compareRates(id, description, outcome, today, baseline, options),
    ),
    ...latencyFigures.map(([id, description]) => compareLatencies(id, description, today, baseline, options)),
  ];
  const tests = candidates.flatMap(({ test }) => test ?? []);
  const results = new Map(holm(tests).map((result, i) => [tests[i], result]));
  return candidates.map(({ drift, test }) => applyTestResult(drift, test, test && results.get(test)));
}

function applyTestResult(
  drift: DriftCandidate['drift'],
  test: DriftTest | undefined,
  result: HolmResult | undefined,
): Drift {
  if (!test || !result) return { ...drift, verdict: 'not enough data' };
  const [low, high] = result.interval;
  const { confidence, differs } = result;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { ...drift, verdict: 'not enough data' };
  const interval: Interval = [test.read(low), test.read(high)];
  return {
    ...drift,
    change: { value: test.read(test.value), interval, confidence },
    verdict: differs ? 'drifted' : 'steady',
  };
}

function compareRates(
  id: string,
  description: string,
  outcome: Exclude<OutcomeClass, 'cancelled'>,
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  { rateMargin = 0.01, runs = [30, 100] }: DriftOptions,
): DriftCandidate {
  const now = computeRate(getOutcomeCount(countOutcomes(today), outcome));
  const before = computeRate(getOutcomeCount(countOutcomes(baseline), outcome));
  const drift = { id, description, kind: 'difference' as const, today: now, baseline: before };
  if (now.rate === null || before.rate === null || now.total < runs[0] || before.total < runs[1]) return { drift };
  return {
    drift,
    test: {
      interval: (deviate) => newcombeInterval(now, before, deviate),
      margin: rateMargin,
      value: now.rate - before.rate,
      read: (change) => change,
    },
  };
}

function compareLatencies(
  id: 'queueMs' | 'durationMs',
  description: string,
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  { ratioMargin = 1.1, buckets = [6, 24] }: DriftOptions,
): DriftCandidate {
  const [now, before] = [getP95Samples(today, id), getP95Samples(baseline, id)];
  const drift = {
    id,
    description,
    kind: 'ratio' as const,
    today: summarizeLatency(now),
    baseline: summarizeLatency(before),
  };
  if (now.length < buckets[0] || before.length < buckets[1]) return { drift };
  // The difference of logarithms is a ratio; durations below 1 ms count as 1 ms.
  const logs = (of: typeof now): number[] => of.map(({ ms }) => Math.log(Math.max(1, ms)));
  const sorted = pairwiseDifferences(logs(now), logs(before));
  return {
    drift,
    test: {
      interval: (deviate) => hodgesLehmannInterval(sorted, [now.length, before.length], deviate),
      margin: Math.log(ratioMargin),
      value: medianOfSorted(sorted),
      read: Math.exp,
    },
  };
}

/** Returns the 95th percentile of each bucket with enough runs. */
function getP95Samples(
  stats: readonly RunStats[],
  id: 'queueMs' | 'durationMs',
): { readonly ms: number; readonly runs: number }[] {
  return stats.flatMap((bucket) => {
    const percentiles = bucket[id];
    return percentiles && bucket.ended >= minRunsPerBucket ? [{ ms: percentiles[1], runs: bucket.ended }] : [];
  });
}

function summarizeLatency(of: ReturnType<typeof getP95Samples>): Latency {
  const sorted = of.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    buckets: of.length,
    runs: of.reduce((sum, { runs }) => sum + runs, 0),
    ms: sorted.length === 0 ? null : medianOfSorted(sorted),
  };
}
