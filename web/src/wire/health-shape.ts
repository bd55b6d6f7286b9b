// Health as the server reports it: counts with intervals, percentiles with intervals, and verdicts that may be "not enough data".
import type { QueueDepth, KillSwitchState, WorkerInfo } from '../../../src/core/index.ts';
import type { Bounds } from './shapes.ts';

/** So many of so many, the rate where there is one, and its interval. */
export type RateShape = {
  readonly good: number;
  readonly total: number;
  readonly rate: number | null;
  readonly interval: readonly [number, number];
};

/** A percentile of so many durations. */
export type QuantileShape = { readonly of: number; readonly value: number; readonly interval: Bounds };

/** Three percentiles of durations. */
export type PercentilesShape = {
  readonly p50: QuantileShape;
  readonly p95: QuantileShape;
  readonly p99: QuantileShape;
};

/** What the fleet is held to, and whether it is met. */
export type ObjectiveShape = {
  readonly id: string;
  readonly what: string;
  readonly target: number;
  readonly measured: RateShape | QuantileShape | null;
  readonly verdict: string;
  readonly budgetLeft: number | null;
};

/** The middle of the 95th percentiles of some stretches of time. */
export type LatencyShape = { readonly stretches: number; readonly runs: number; readonly ms: number | null };

/** How a figure of today stands to those before. */
export type DriftShape = {
  readonly id: string;
  readonly what: string;
  readonly as: 'difference' | 'ratio';
  readonly today: RateShape | LatencyShape;
  readonly baseline: RateShape | LatencyShape;
  readonly change?: { readonly value: number; readonly interval: Bounds; readonly confidence: number };
  readonly verdict: string;
};

/** How the fleet is. */
export type HealthShape = {
  readonly at: string;
  readonly depth: QueueDepth;
  readonly oldestMs: number | null;
  readonly workers: readonly (WorkerInfo & { readonly alive: boolean; readonly silentMs: number })[];
  readonly breakers: readonly { readonly worker: string; readonly model: string; readonly state: string }[];
  readonly rates: {
    readonly ended: number;
    readonly calledOff: number;
    readonly answered: RateShape;
    readonly errors: RateShape;
    readonly abstained: RateShape;
    readonly bounded: RateShape;
  };
  readonly waited: PercentilesShape | null;
  readonly took: PercentilesShape | null;
  readonly standing: KillSwitchState;
  readonly slo: readonly ObjectiveShape[];
  readonly drift: readonly DriftShape[];
};
