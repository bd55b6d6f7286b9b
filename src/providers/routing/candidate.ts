// Types of the model router: candidates, situation, scores and decision, as plain data.
import type { Price } from '../../core/index.ts';
import type { TaskKind } from './keyword-weights.ts';
import type { PastRun } from './run-history.ts';
import type { KeywordWeights } from './task-features.ts';

/** A candidate model. */
export type ModelCandidate = {
  /** The user's name of the model, `provider/model`. */
  readonly name: string;
  /** The name in the log. */
  readonly model: string;
  /** Data sent to it stays on the user's machines. */
  readonly local: boolean;
  /** The max task difficulty it is trusted with, from 0 to 1. */
  readonly quality: number;
  readonly price?: Price;
  readonly window?: number;
  /** Whether it supports tool calls; absent if unknown. */
  readonly tools?: boolean;
  readonly images?: boolean;
  /** Why it is unavailable, such as a missing key. */
  readonly unusable?: string;
};

/** The situation of a routing decision. */
export type RoutingContext = {
  /** The prompt. */
  readonly task: string;
  /** Estimated tokens of the first request. */
  readonly context: number;
  readonly needs: { readonly tools: boolean; readonly images: boolean };
  /** Only models that keep data on the user's machines are allowed. */
  readonly private: boolean;
  /** Remaining budget of the run in dollars. */
  readonly usdLeft?: number;
  /** The current model of the conversation. */
  readonly current?: string;
  /** Models that just failed, by name. */
  readonly except?: readonly string[];
  /** Results of past runs. */
  readonly past: readonly PastRun[];
  readonly now: number;
};

/** The weights of the scorers; 0 disables one. */
export type RoutingWeights = {
  /** Capability for the task. */
  readonly task: number;
  /** Estimated cost. */
  readonly cost: number;
  /** Free context window. */
  readonly context: number;
  /** Past success with this kind of task. */
  readonly success: number;
  /** Latency. */
  readonly latency: number;
  /** Cost of switching models: the new one reads the whole history. */
  readonly stay: number;
};

/** Options of the model router. */
export type RoutingOptions = {
  readonly weights: RoutingWeights;
  readonly words: KeywordWeights;
  /** How long an unreachable model is excluded. */
  readonly coolMs: number;
};

/** Default weights: capability first, then cost and past success. */
export const defaultRoutingOptions: RoutingOptions = {
  weights: { task: 3, cost: 2, context: 0.5, success: 2, latency: 0.5, stay: 0.5 },
  words: {},
  coolMs: 60_000,
};

/** A score from 0 to 1 with a reason. */
export type CandidateScore = { readonly scorer: keyof RoutingWeights; readonly score: number; readonly why: string };

/** The rating of a model: excluded by a hard rule, or scored. */
export type CandidateRating =
  | { readonly candidate: ModelCandidate; readonly out: string }
  | { readonly candidate: ModelCandidate; readonly total: number; readonly scores: readonly CandidateScore[] };

/** The routing decision. */
export type RoutingDecision = {
  /** Absent if every model is excluded. */
  readonly chosen: ModelCandidate | undefined;
  readonly kind: TaskKind;
  readonly complexity: number;
  readonly why: string;
  /** All ratings, best first, excluded models last. */
  readonly ratings: readonly CandidateRating[];
};
