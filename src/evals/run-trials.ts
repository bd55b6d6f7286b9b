// Runs the trials of cases, several at a time, and reports progress. An abort keeps what was measured.
import { FairleadError } from '../core/index.ts';
import type { EvalCase } from './dataset.ts';
import { createCaseResult, type EvalCaseResult, type EvalTrial } from './results.ts';

/** How far an evaluation is. */
export type EvalProgress = {
  readonly total: number;
  /** Trials that have ended, also those of an earlier start. */
  readonly done: number;
  readonly right: number;
  readonly wrong: number;
  readonly withoutResponse: number;
  /** The cost so far, as far as it is known. */
  readonly usd: number;
  /** The trials that run now. */
  readonly running: readonly { readonly id: string; readonly trial: number }[];
};

/** The options of `runTrials`. */
export type RunTrialsOptions = {
  readonly cases: readonly EvalCase[];
  /** How often each case is run; 1 by default. */
  readonly trials?: number;
  /** How many trials run at a time; 1 by default. */
  readonly parallel?: number;
  readonly runTrial: (evalCase: EvalCase, trial: number, signal: AbortSignal) => Promise<EvalTrial>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: EvalProgress) => void;
  /** Called with each case when its last trial has ended. */
  readonly onResult?: (result: EvalCaseResult) => void;
};

/** The results of the cases that were run, in the order of the dataset. */
export type TrialResults = { readonly cases: readonly EvalCaseResult[]; readonly interrupted: boolean };

/** The maximum number of trials of a case. */
export const maxTrials = 1000;
/** The maximum number of trials at a time. */
export const maxParallel = 64;

/** Throws if a count of trials is not an integer from 1 to its maximum. */
export function assertTrialCounts({ trials = 1, parallel = 1 }: Pick<RunTrialsOptions, 'trials' | 'parallel'>): void {
  const check = (name: string, value: number, max: number): void => {
    if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
    throw new FairleadError('eval/bad-option', `${name} is an integer from 1 to ${max}, not ${value}.`, {
      blame: 'user',
    });
  };
  check('trials', trials, maxTrials);
  check('parallel', parallel, maxParallel);
}

/** Runs every trial of every case. A trial that throws ends the evaluation. */
export async function runTrials(options: RunTrialsOptions): Promise<TrialResults> {
  const { cases, trials = 1, parallel = 1, runTrial, onResult } = options;
  assertTrialCounts(options);
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const tally = createTally(cases, trials, options.onProgress);
  const tasks = cases.flatMap((evalCase) => Array.from({ length: trials }, (_, i) => ({ evalCase, trial: i + 1 })));
  let next = 0;
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const task = tasks[next++];
      if (!task) return;
      const { evalCase, trial } = task;
      tally.start(evalCase, trial);
      const result = await runTrial(evalCase, trial, signal);
      tally.end(evalCase, result, onResult);
    }
  };
  const workers = Array.from({ length: Math.min(parallel, tasks.length) }, () =>
    work().catch((error: unknown) => {
      stop.abort();
      throw error;
    }),
  );
  const settled = await Promise.allSettled(workers);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  return tally.results();
}

/** Counts trials as they start and end. */
export type Tally = {
  start(evalCase: EvalCase, trial: number): void;
  end(evalCase: EvalCase, trial: EvalTrial, onResult?: (result: EvalCaseResult) => void): void;
  results(): TrialResults;
};

/** Creates the count of the trials of an evaluation. */
export function createTally(
  cases: readonly EvalCase[],
  trials: number,
  onProgress?: (progress: EvalProgress) => void,
): Tally {
  const ended = new Map<string, EvalTrial[]>();
  const running = new Map<string, { readonly id: string; readonly trial: number }>();
  const total = cases.length * trials;
  const counts = { done: 0, right: 0, wrong: 0, withoutResponse: 0, usd: 0 };
  const keyOf = ({ id }: EvalCase, trial: number): string => `${trial} ${id}`;
  const report = (): void => onProgress?.({ total, ...counts, running: [...running.values()] });
  return {
    start(evalCase, trial) {
      running.set(keyOf(evalCase, trial), { id: evalCase.id, trial });
      report();
    },
    end(evalCase, trial, onResult) {
      running.delete(keyOf(evalCase, trial.trial));
      const own = ended.get(evalCase.id) ?? [];
      own.push(trial);
      ended.set(evalCase.id, own);
      counts.done++;
      counts.usd += (trial.costUsd ?? 0) + (trial.judgeUsd ?? 0);
      if (!trial.responded) counts.withoutResponse++;
      else if (trial.right) counts.right++;
      else counts.wrong++;
      report();
      if (own.length === trials) onResult?.(createCaseResult(evalCase, own));
    },
    results: () => ({
      cases: cases.flatMap((each) => {
        const own = ended.get(each.id);
        return own ? [createCaseResult(each, own)] : [];
      }),
      interrupted: counts.done < total,
    }),
  };
}
