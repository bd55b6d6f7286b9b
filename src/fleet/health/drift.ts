// The drift monitor: today's rates and latencies against those of the week before, each difference with an interval, all looked at together.
import type { RunStats } from '../../core/index.ts';
import { holm, type HolmResult, type HolmTest } from './holm.ts';
import { getOutcomeCount, countOutcomes, type OutcomeClass } from './outcomes.ts';
import { newcombeInterval, computeRate, type Interval, type Rate } from './rates.ts';
import { pairwiseDifferences, hodgesLehmannInterval, medianOfSorted } from './shift.ts';

/** Whether today differs. `drifted`: by more than what matters, and by more than chance explains. */
export type DriftVerdict = 'steady' | 'drifted' | 'not enough data';

/** How a figure of today stands to the week before. */
export type Drift = {
  readonly id: string;
  readonly description: string;
  /** A difference of rates, or how many times as long. */
  readonly kind: 'difference' | 'ratio';
  readonly today: Rate | Latency;
  readonly baseline: Rate | Latency;
  /** The change, and its interval at the confidence it was judged with; nothing where there are too few runs. */
  readonly change?: { readonly value: number; readonly interval: Interval; readonly confidence: number };
  readonly verdict: DriftVerdict;
};

/** A latency over several stretches of time: the middle of their 95th percentiles. */
export type Latency = { readonly buckets: number; readonly runs: number; readonly ms: number | null };

/** What is too small to matter, and how much there must be before anything is said. */
export type DriftOptions = {
  /** Differences of rates up to this are no drift: 0.01 unless given. */
  readonly rateMargin?: number;
  /** Latencies up to so many times as long, or as short, are no drift: 1.1 unless given. */
  readonly ratioMargin?: number;
  /** Runs that today and the baseline must have at least: 30 and 100 unless given. */
  readonly runs?: readonly [today: number, baseline: number];
  /** Stretches with enough runs that today and the baseline must have at least: 6 and 24 unless given. */
  readonly buckets?: readonly [today: number, baseline: number];
};

const rateFigures = [
  ['errors', 'error', 'runs that broke'],
  ['abstained', 'abstained', 'runs that abstained'],
  ['limited', 'limited', 'runs that reached a limit'],
] as const satisfies readonly (readonly [string, Exclude<OutcomeClass, 'cancelled'>, string])[];

const latencyFigures = [
  ['queueMs', 'the 95th percentile of the wait to be begun'],
  ['durationMs', 'the 95th percentile of the time from begun to ended'],
] as const;

/** A stretch with fewer runs says nothing about a 95th percentile. */
const minRunsPerBucket = 5;

type DriftCandidate = { readonly drift: Omit<Drift, 'verdict' | 'change'>; readonly test?: DriftTest };
type DriftTest = HolmTest & { readonly value: number; readonly read: (change: number) => number };

/** Today's stretches against those of the baseline. */
export function computeDrift(
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  options: DriftOptions = {},
): readonly Drift[] {
  const looks = [
    ...rateFigures.map(([id, outcome, description]) =>
      compareRates(id, description, outcome, today, baseline, options),
    ),
    ...latencyFigures.map(([id, description]) => compareLatencies(id, description, today, baseline, options)),
  ];
  const asked = looks.flatMap(({ test }) => test ?? []);
  const answers = new Map(holm(asked).map((answer, i) => [asked[i], answer]));
  return looks.map(({ drift, test }) => applyTestResult(drift, test, test && answers.get(test)));
}

function applyTestResult(
  drift: DriftCandidate['drift'],
  ask: DriftTest | undefined,
  answer: HolmResult | undefined,
): Drift {
  if (!ask || !answer) return { ...drift, verdict: 'not enough data' };
  const [low, high] = answer.interval;
  const { confidence, differs } = answer;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { ...drift, verdict: 'not enough data' };
  const interval: Interval = [ask.read(low), ask.read(high)];
  return {
    ...drift,
    change: { value: ask.read(ask.value), interval, confidence },
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
  // In logarithms a difference is a ratio; what took less than a millisecond took one.
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

/** The 95th percentile of each stretch that has enough runs. */
function getP95Samples(
  tallies: readonly RunStats[],
  id: 'queueMs' | 'durationMs',
): { readonly ms: number; readonly runs: number }[] {
  return tallies.flatMap((tally) => {
    const percentiles = tally[id];
    return percentiles && tally.ended >= minRunsPerBucket ? [{ ms: percentiles[1], runs: tally.ended }] : [];
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
