// Runs trials on a queue in a file: what has ended stays recorded, so that an evaluation that was killed continues where it was.
import { createHash, randomUUID } from 'node:crypto';
import {
  canonicalJson,
  FairleadError,
  isObject,
  zeroUsage,
  type FleetRun,
  type FleetStore,
  type Json,
  type NewRun,
  type RunSettlement,
} from '../core/index.ts';
import type { EvalCase } from './dataset.ts';
import type { EvalTrial } from './results.ts';
import { assertTrialCounts, createTally, type RunTrialsOptions, type TrialResults } from './run-trials.ts';

/** The options of `runQueuedTrials`. */
export type QueuedTrialsOptions = RunTrialsOptions & {
  /** The store with the queue; one evaluation only. */
  readonly store: Pick<FleetStore, 'queue'>;
  /** What the results depend on besides the cases, such as the model and its settings. */
  readonly configuration: Json;
};

/** The kind of the runs of a queue of trials. */
const trialKind = 'eval-trial';
/** How often a trial without a response is queued again, over all starts. */
const maxRepeats = 50;
const maxBatch = 200;

/** Returns the id of an evaluation: the same cases and the same configuration have the same one. */
export const getEvaluationId = (cases: readonly EvalCase[], configuration: Json): string =>
  hash(canonicalJson(JSON.parse(JSON.stringify([configuration, cases])) as Json));

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

type Task = { readonly evalCase: EvalCase; readonly trial: number };

/** Runs every trial that has not ended in an earlier start. Several processes can work on one queue. */
export async function runQueuedTrials(options: QueuedTrialsOptions): Promise<TrialResults> {
  const { cases, trials = 1, parallel = 1, store, runTrial, onResult } = options;
  assertTrialCounts(options);
  const evaluation = getEvaluationId(cases, options.configuration);
  await assertOwnQueue(store, evaluation);
  const tally = createTally(cases, trials, options.onProgress);
  const open = new Map<string, Task>();
  const tasks = cases.flatMap((evalCase) =>
    Array.from({ length: trials }, (_, i): Task => ({ evalCase, trial: i + 1 })),
  );
  for (const task of tasks) {
    const found = await findTrial(store, evaluation, task);
    if (found.ended) tally.end(task.evalCase, found.ended, onResult);
    else open.set(found.id, task);
  }
  await enqueueTrials(store, evaluation, open);
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  let failure: { readonly error: unknown } | undefined;
  const handle = async (run: FleetRun, lost: AbortSignal): Promise<RunSettlement> => {
    const task = open.get(run.id);
    if (!task) return settleUnknown(run);
    tally.start(task.evalCase, task.trial);
    try {
      const result = await runTrial(task.evalCase, task.trial, AbortSignal.any([signal, lost]));
      tally.end(task.evalCase, result, onResult);
      // What an abort cut off was not measured, and is run again at the next start.
      if (signal.aborted && !result.responded) return { type: 'released' };
      return { type: 'completed', outcome: toOutcome(result) };
    } catch (error) {
      failure ??= { error };
      stop.abort();
      return { type: 'released' };
    }
  };
  if (open.size > 0)
    await store.queue.work({ worker: `eval-${randomUUID()}`, concurrency: parallel, signal, drain: true, handle });
  if (failure) throw failure.error;
  return signal.aborted ? tally.results() : collectResults(store, evaluation, tasks, cases, trials);
}

/** A trial of another evaluation can be in the queue only if its file was changed by other means. */
const settleUnknown = (run: FleetRun): RunSettlement => ({
  type: 'completed',
  outcome: { reason: 'cancelled', detail: `No case has the trial ${run.id}.`, text: '', spent: zeroUsage },
});

const toOutcome = (trial: EvalTrial): Extract<RunSettlement, { type: 'completed' }>['outcome'] => ({
  reason: trial.responded ? 'answered' : 'provider-error',
  text: JSON.stringify(trial),
  spent: {
    ...zeroUsage,
    turns: trial.turns ?? 0,
    input: trial.usage?.inputTokens ?? 0,
    output: trial.usage?.outputTokens ?? 0,
    usd: trial.costUsd ?? 0,
    ms: trial.durationMs,
  },
});

/** The results of all processes that worked on the queue. */
async function collectResults(
  store: Pick<FleetStore, 'queue'>,
  evaluation: string,
  tasks: readonly Task[],
  cases: readonly EvalCase[],
  trials: number,
): Promise<TrialResults> {
  const tally = createTally(cases, trials);
  for (const task of tasks) {
    const { ended, last } = await findTrial(store, evaluation, task);
    const trial = ended ?? last;
    if (trial) tally.end(task.evalCase, trial);
  }
  return tally.results();
}

/** The result of a trial, or the id under which it has to be queued. `last` is the latest result without a response. */
type FoundTrial = { readonly id: string; readonly ended?: EvalTrial; readonly last?: EvalTrial };

async function findTrial(
  { queue }: Pick<FleetStore, 'queue'>,
  evaluation: string,
  { evalCase, trial }: Task,
): Promise<FoundTrial> {
  let last: EvalTrial | undefined;
  let id = '';
  for (let repeat = 0; repeat < maxRepeats; repeat++) {
    id = `eval-${hash(`${evaluation} ${trial} ${repeat} ${evalCase.id}`)}`;
    const run = await queue.run(id);
    if (!run || run.status !== 'ended') return { id, ...(last ? { last } : {}) };
    const result = parseTrial(run, trial);
    if (result.responded) return { id, ended: result };
    last = result;
  }
  return { id, ...(last ? { ended: last } : {}) };
}

/** The trial that an ended run recorded. A run that the queue ended itself has none: its process died too often. */
function parseTrial({ outcome }: FleetRun, trial: number): EvalTrial {
  try {
    const value: unknown = JSON.parse(outcome?.text ?? '');
    if (isObject(value) && typeof value['responded'] === 'boolean' && Array.isArray(value['errors']))
      return value as unknown as EvalTrial;
  } catch {
    // The text is not that of a trial.
  }
  const why = outcome?.detail ?? 'The trial has no result.';
  return {
    trial,
    responded: false,
    right: false,
    abstained: false,
    errors: [why],
    reason: outcome?.reason ?? 'cancelled',
    text: '',
    durationMs: 0,
  };
}

async function enqueueTrials(
  { queue }: Pick<FleetStore, 'queue'>,
  evaluation: string,
  open: ReadonlyMap<string, Task>,
): Promise<void> {
  const runs = [...open].map(([id, { evalCase, trial }], i): NewRun => ({
    id,
    kind: trialKind,
    prompt: evalCase.id,
    settings: { evaluation, trial },
    // Trials start in the order of the dataset.
    priority: -i,
  }));
  for (let at = 0; at < runs.length; at += maxBatch) await queue.enqueue(runs.slice(at, at + maxBatch));
}

/** Throws if the queue has runs of something else. */
async function assertOwnQueue({ queue }: Pick<FleetStore, 'queue'>, evaluation: string): Promise<void> {
  const [latest] = await queue.list({ limit: 1 });
  if (!latest || (latest.kind === trialKind && latest.settings['evaluation'] === evaluation)) return;
  throw new FairleadError('eval/other-results', 'The results file belongs to another evaluation.', {
    blame: 'user',
    hint: 'Its cases, model or judges are others; name another file.',
  });
}
