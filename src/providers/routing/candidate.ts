// What a router chooses among, what it goes by, and what it says: plain data, so that a choice can be written down and looked at.
import type { Price } from '../../core/index.ts';
import type { TaskKind } from './lexicon.ts';
import type { PastRun } from './run-history.ts';
import type { KeywordWeights } from './task-features.ts';

/** A model that may be chosen. */
export type ModelCandidate = {
  /** As a person names it, `provider/model`. */
  readonly name: string;
  /** As the log names it. */
  readonly model: string;
  /** Nothing that it is told leaves the person's own machines. */
  readonly local: boolean;
  /** How hard a task it is trusted with, from 0 to 1. */
  readonly quality: number;
  readonly price?: Price;
  readonly window?: number;
  /** Whether it calls tools; absent where nobody knows. */
  readonly tools?: boolean;
  readonly images?: boolean;
  /** Why it cannot be used at all, such as a key that is not set. */
  readonly unusable?: string;
};

/** What a model is chosen for. */
export type RoutingContext = {
  /** What was asked. */
  readonly task: string;
  /** Tokens that the first request will hold. */
  readonly context: number;
  readonly needs: { readonly tools: boolean; readonly images: boolean };
  /** Only models that keep everything on the person's own machines may be chosen, whatever else speaks for another. */
  readonly private: boolean;
  /** Dollars that the run may still cost. */
  readonly usdLeft?: number;
  /** The name of the model that the conversation is with now. */
  readonly current?: string;
  /** Those that failed just now, by name. */
  readonly except?: readonly string[];
  /** How runs of the past came out. */
  readonly past: readonly PastRun[];
  readonly now: number;
};

/** What counts how much; 0 leaves a scorer out. */
export type RoutingWeights = {
  /** Whether the model is up to the task. */
  readonly task: number;
  /** What the run is likely to cost. */
  readonly cost: number;
  /** How much room its window leaves. */
  readonly context: number;
  /** How its runs of this kind came out. */
  readonly success: number;
  /** How long its turns took. */
  readonly latency: number;
  /** That another model would have to read everything anew. */
  readonly stay: number;
};

/** How models are weighed. */
export type RoutingOptions = {
  readonly weights: RoutingWeights;
  readonly words: KeywordWeights;
  /** How long a model that could not be reached is left alone. */
  readonly coolMs: number;
};

/** Unless set: whether it is up to the task counts most, then what it costs and how it did before. */
export const defaultRoutingOptions: RoutingOptions = {
  weights: { task: 3, cost: 2, context: 0.5, success: 2, latency: 0.5, stay: 0.5 },
  words: {},
  coolMs: 60_000,
};

/** What one scorer says of a model: from 0 to 1, and why. */
export type CandidateScore = { readonly scorer: keyof RoutingWeights; readonly score: number; readonly why: string };

/** How a model stands: out by a hard rule, or with its scores and their weighted mean. */
export type CandidateRating =
  | { readonly candidate: ModelCandidate; readonly out: string }
  | { readonly candidate: ModelCandidate; readonly total: number; readonly scores: readonly CandidateScore[] };

/** What was chosen, and why. */
export type RoutingDecision = {
  /** Nothing where every model is out. */
  readonly chosen: ModelCandidate | undefined;
  readonly kind: TaskKind;
  readonly complexity: number;
  readonly why: string;
  /** All of them, the best first, those that are out last. */
  readonly ratings: readonly CandidateRating[];
};
