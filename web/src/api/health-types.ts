// Health as the server reports it: counts with intervals, percentiles with intervals, and verdicts that may be "not enough data".
import type { QueueDepth, KillSwitchState, WorkerInfo } from '../../../src/core/index.ts';
import type { ConfidenceInterval } from './types.ts';

/** So many of so many, the rate where there is one, and its interval. */
export type HealthRate = {
  readonly good: number;
  readonly total: number;
  readonly rate: number | null;
  readonly interval: readonly [number, number];
};

/** A percentile of so many durations. */
export type HealthQuantile = { readonly count: number; readonly value: number; readonly interval: ConfidenceInterval };

/** Three percentiles of durations. */
export type HealthPercentiles = {
  readonly p50: HealthQuantile;
  readonly p95: HealthQuantile;
  readonly p99: HealthQuantile;
};

/** What the fleet is held to, and whether it is met. */
export type HealthObjective = {
  readonly id: string;
  readonly description: string;
  readonly target: number;
  readonly measured: HealthRate | HealthQuantile | null;
  readonly verdict: string;
  readonly budgetLeft: number | null;
};

/** The middle of the 95th percentiles of some stretches of time. */
export type HealthLatency = { readonly buckets: number; readonly runs: number; readonly ms: number | null };

/** How a figure of today stands to those before. */
export type HealthDrift = {
  readonly id: string;
  readonly description: string;
  readonly kind: 'difference' | 'ratio';
  readonly today: HealthRate | HealthLatency;
  readonly baseline: HealthRate | HealthLatency;
  readonly change?: { readonly value: number; readonly interval: ConfidenceInterval; readonly confidence: number };
  readonly verdict: string;
};

/** How the fleet is. */
export type HealthReport = {
  readonly measuredAt: string;
  readonly depth: QueueDepth;
  readonly oldestMs: number | null;
  readonly workers: readonly (WorkerInfo & { readonly alive: boolean; readonly silentMs: number })[];
  readonly breakers: readonly { readonly worker: string; readonly model: string; readonly state: string }[];
  readonly rates: {
    readonly ended: number;
    readonly cancelled: number;
    readonly answered: HealthRate;
    readonly errors: HealthRate;
    readonly abstained: HealthRate;
    readonly limited: HealthRate;
  };
  readonly queueMs: HealthPercentiles | null;
  readonly durationMs: HealthPercentiles | null;
  readonly killSwitch: KillSwitchState;
  readonly slo: readonly HealthObjective[];
  readonly drift: readonly HealthDrift[];
};
