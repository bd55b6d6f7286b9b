// The results of an evaluation: each trial with its trajectory, tokens, cost and time, and each case with its trials.
import type { RunUsage } from '../agent/index.ts';
import type { Json, ToolOutcome } from '../core/index.ts';

/** One tool call of a trial. */
export type TrajectoryStep = {
  readonly turn: number;
  readonly tool: string;
  readonly input: Json;
  /** `waiting`: the call needs an approval that was not given. */
  readonly outcome: ToolOutcome | 'waiting';
  /** The beginning of the result. */
  readonly result: string;
  readonly ms: number;
};

/** What one trial of a case measured. */
export type EvalTrial = {
  /** The number of the trial, from 1. */
  readonly trial: number;
  /** True if the model responded; if it failed or was cancelled, nothing was measured. */
  readonly responded: boolean;
  readonly right: boolean;
  /** True if the answer abstained or a check abstained. */
  readonly abstained: boolean;
  /** What is wrong, one sentence each. */
  readonly errors: readonly string[];
  readonly reason: string;
  readonly text: string;
  readonly durationMs: number;
  /** The cost of the agent; absent if a price is unknown. */
  readonly costUsd?: number;
  /** The cost of the judges; absent if none was asked. */
  readonly judgeUsd?: number;
  readonly usage?: RunUsage;
  /** The model as the provider named it in its last response. */
  readonly servedModel?: string;
  readonly turns?: number;
  readonly trajectory?: readonly TrajectoryStep[];
};

/** The result of a case. `errors`, `reason`, `text`, `durationMs` and `costUsd` are those of its first wrong trial, or else of its first. */
export type EvalCaseResult = Omit<
  EvalTrial,
  'trial' | 'judgeUsd' | 'usage' | 'servedModel' | 'turns' | 'trajectory'
> & {
  readonly id: string;
  readonly tags: readonly string[];
  /** True if abstaining was correct. */
  readonly shouldAbstain: boolean;
  /** True if every trial must pass. */
  readonly must?: boolean;
  /** The trials, in order. */
  readonly trials: readonly EvalTrial[];
};

/** Joins the trials of a case. The case is right if every trial with a response is, and there is one. */
export function createCaseResult(
  { id, tags, must, expect }: { id: string; tags: readonly string[]; must?: boolean; expect: { abstains?: boolean } },
  given: readonly EvalTrial[],
): EvalCaseResult {
  const trials = given.toSorted((a, b) => a.trial - b.trial);
  const measured = trials.filter(({ responded }) => responded);
  const shown = measured.find(({ right }) => !right) ?? measured[0] ?? trials[0];
  if (!shown) throw new RangeError(`The case ${id} has no trial.`);
  return {
    id,
    tags,
    ...(must === undefined ? {} : { must }),
    responded: measured.length > 0,
    right: measured.length > 0 && measured.every(({ right }) => right),
    shouldAbstain: expect.abstains === true,
    abstained: shown.abstained,
    errors: shown.errors,
    reason: shown.reason,
    text: shown.text,
    durationMs: shown.durationMs,
    ...(shown.costUsd === undefined ? {} : { costUsd: shown.costUsd }),
    trials,
  };
}
