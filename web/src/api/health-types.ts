// Types of the health report of the server.
import type { QueueDepth, KillSwitchState, WorkerInfo } from '../../../src/core/index.ts';
import type { ConfidenceInterval } from './types.ts';

/** A rate with its counts and interval; null if the total is 0. */
export type HealthRate = {
  readonly good: number;
  readonly total: number;
  readonly rate: number | null;
  readonly interval: readonly [number, number];
};

/** A percentile of `count` durations. */
export type HealthQuantile = { readonly count: number; readonly value: number; readonly interval: ConfidenceInterval };

/** Three percentiles of durations. */
export type HealthPercentiles = {
  readonly p50: HealthQuantile;
  readonly p95: HealthQuantile;
  readonly p99: HealthQuantile;
};

/** An objective and whether it is met. */
export type HealthObjective = {
  readonly id: string;
  readonly description: string;
  readonly target: number;
  readonly measured: HealthRate | HealthQuantile | null;
  readonly verdict: string;
  readonly budgetLeft: number | null;
};

/** The median of the 95th percentiles of some time buckets. */
export type HealthLatency = { readonly buckets: number; readonly runs: number; readonly ms: number | null };

/** The change of a figure against the week before. */
export type HealthDrift = {
  readonly id: string;
  readonly description: string;
  readonly kind: 'difference' | 'ratio';
  readonly today: HealthRate | HealthLatency;
  readonly baseline: HealthRate | HealthLatency;
  readonly change?: { readonly value: number; readonly interval: ConfidenceInterval; readonly confidence: number };
  readonly verdict: string;
};

/** The health of the fleet. */
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
