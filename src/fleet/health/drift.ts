// The drift monitor: today's rates and latencies against those of the week before, each difference with an interval, all looked at together.
import type { RunStats } from '../../core/index.ts';
import { holm, type Answer, type Question } from './holm.ts';
import { countOf, outcomesOf, type OutcomeClass } from './outcomes.ts';
import { newcombe, rateOf, type Interval, type Rate } from './rates.ts';
import { differences, shiftInterval, shiftOf } from './shift.ts';

/** Whether today differs. `drifted`: by more than what matters, and by more than chance explains. */
export type DriftVerdict = 'steady' | 'drifted' | 'not enough data';

/** How a figure of today stands to the week before. */
export type Drift = {
  readonly id: string;
  readonly what: string;
  /** A difference of rates, or how many times as long. */
  readonly as: 'difference' | 'ratio';
  readonly today: Rate | Latency;
  readonly baseline: Rate | Latency;
  /** The change, and its interval at the confidence it was judged with; nothing where there are too few runs. */
  readonly change?: { readonly value: number; readonly interval: Interval; readonly confidence: number };
  readonly verdict: DriftVerdict;
};

/** A latency over several stretches of time: the middle of their 95th percentiles. */
export type Latency = { readonly stretches: number; readonly runs: number; readonly ms: number | null };

/** What is too small to matter, and how much there must be before anything is said. */
export type DriftOptions = {
  /** Differences of rates up to this are no drift: 0.01 unless given. */
  readonly rateMargin?: number;
  /** Latencies up to so many times as long, or as short, are no drift: 1.1 unless given. */
  readonly ratioMargin?: number;
  /** Runs that today and the baseline must have at least: 30 and 100 unless given. */
  readonly runs?: readonly [today: number, baseline: number];
  /** Stretches with enough runs that today and the baseline must have at least: 6 and 24 unless given. */
  readonly stretches?: readonly [today: number, baseline: number];
};

const rates = [
  ['errors', 'error', 'runs that broke'],
  ['abstained', 'abstained', 'runs that abstained'],
  ['bounded', 'bounded', 'runs that reached a bound'],
] as const satisfies readonly (readonly [string, Exclude<OutcomeClass, 'called-off'>, string])[];

const latencies = [
  ['waited', 'the 95th percentile of the wait to be begun'],
  ['took', 'the 95th percentile of the time from begun to ended'],
] as const;

/** A stretch with fewer runs says nothing about a 95th percentile. */
const leastOfStretch = 5;

type Look = { readonly drift: Omit<Drift, 'verdict' | 'change'>; readonly ask?: Asked };
type Asked = Question & { readonly value: number; readonly read: (change: number) => number };

/** Today's stretches against those of the baseline. */
export function driftOf(
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  options: DriftOptions = {},
): readonly Drift[] {
  const looks = [
    ...rates.map(([id, outcome, what]) => lookAtRate(id, what, outcome, today, baseline, options)),
    ...latencies.map(([id, what]) => lookAtLatency(id, what, today, baseline, options)),
  ];
  const asked = looks.flatMap(({ ask }) => ask ?? []);
  const answers = new Map(holm(asked).map((answer, i) => [asked[i], answer]));
  return looks.map(({ drift, ask }) => judged(drift, ask, ask && answers.get(ask)));
}

function judged(drift: Look['drift'], ask: Asked | undefined, answer: Answer | undefined): Drift {
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

function lookAtRate(
  id: string,
  what: string,
  outcome: Exclude<OutcomeClass, 'called-off'>,
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  { rateMargin = 0.01, runs = [30, 100] }: DriftOptions,
): Look {
  const now = rateOf(countOf(outcomesOf(today), outcome));
  const before = rateOf(countOf(outcomesOf(baseline), outcome));
  const drift = { id, what, as: 'difference' as const, today: now, baseline: before };
  if (now.rate === null || before.rate === null || now.total < runs[0] || before.total < runs[1]) return { drift };
  return {
    drift,
    ask: {
      interval: (deviate) => newcombe(now, before, deviate),
      margin: rateMargin,
      value: now.rate - before.rate,
      read: (change) => change,
    },
  };
}

function lookAtLatency(
  id: 'waited' | 'took',
  what: string,
  today: readonly RunStats[],
  baseline: readonly RunStats[],
  { ratioMargin = 1.1, stretches = [6, 24] }: DriftOptions,
): Look {
  const [now, before] = [samples(today, id), samples(baseline, id)];
  const drift = { id, what, as: 'ratio' as const, today: latencyOf(now), baseline: latencyOf(before) };
  if (now.length < stretches[0] || before.length < stretches[1]) return { drift };
  // In logarithms a difference is a ratio; what took less than a millisecond took one.
  const logs = (of: typeof now): number[] => of.map(({ ms }) => Math.log(Math.max(1, ms)));
  const sorted = differences(logs(now), logs(before));
  return {
    drift,
    ask: {
      interval: (deviate) => shiftInterval(sorted, [now.length, before.length], deviate),
      margin: Math.log(ratioMargin),
      value: shiftOf(sorted),
      read: Math.exp,
    },
  };
}

/** The 95th percentile of each stretch that has enough runs. */
function samples(
  tallies: readonly RunStats[],
  id: 'waited' | 'took',
): { readonly ms: number; readonly runs: number }[] {
  return tallies.flatMap((tally) => {
    const percentiles = tally[id];
    return percentiles && tally.ended >= leastOfStretch ? [{ ms: percentiles[1], runs: tally.ended }] : [];
  });
}

function latencyOf(of: ReturnType<typeof samples>): Latency {
  const sorted = of.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    stretches: of.length,
    runs: of.reduce((sum, { runs }) => sum + runs, 0),
    ms: sorted.length === 0 ? null : shiftOf(sorted),
  };
}
