// Orchestrator and workers: a task is split into parts, workers do them in parallel, and one answer combines their results. What failed is part of the result.
import { assertWhole, badOptionError } from './errors.ts';
import { createPrompt, type ReadResult, type RoleTask } from './call-member.ts';
import { codeFamily, resolveMember, type Member, type Participant } from './participant.ts';
import {
  assertPatternOptions,
  isStarted,
  resolveMembers,
  runPool,
  withPatternRun,
  type PatternOptions,
  type PatternReport,
  type PatternStop,
} from './pattern-run.ts';
import { dataSentence, quoteOutside, readObject, readText } from './read-answer.ts';

/** More parts than this are an answer that cannot be used. */
const maxSplitParts = 1000;

/** What the participant that splits gets. */
export type SplitInput = { readonly task: string; readonly maxParts: number };

/** What a worker gets. */
export type WorkerInput = { readonly task: string; readonly part: string; readonly index: number };

/** The result of one part. */
export type WorkedPart = {
  readonly index: number;
  /** What was to be done. */
  readonly part: string;
  /** `not-started`: the budget, the signal or the limit of parts prevented it. */
  readonly outcome: 'done' | 'failed' | 'not-started';
  /** The worker; absent if the part was not started. */
  readonly worker?: string;
  readonly text?: string;
  /** Why there is no text. */
  readonly why?: string;
};

/** What the participant that combines gets: every part, with those that failed. */
export type CombineInput = { readonly task: string; readonly parts: readonly WorkedPart[] };

/** Options of orchestrateWorkers. */
export type OrchestrateOptions = PatternOptions & {
  readonly task: string;
  /** Splits the task: a list of texts, or JSON `{"parts": […]}` of a model. */
  readonly splitter: Participant<SplitInput, readonly string[]>;
  /** Do the parts, in turn. */
  readonly workers: readonly Participant<WorkerInput, string>[];
  readonly combiner: Participant<CombineInput, string>;
  /** Parts at most; 8 by default. What is beyond is reported as not started. */
  readonly maxParts?: number;
  /** Workers that run at the same time; 4 by default. */
  readonly parallel?: number;
};

/** The combined answer, and what became of each part. */
export type OrchestrateResult = PatternReport & {
  /** The combined answer; undefined if no part was done or combining failed. */
  readonly text: string | undefined;
  readonly parts: readonly WorkedPart[];
  /** The parts without a result. */
  readonly missing: readonly WorkedPart[];
};

const splitTask: RoleTask<SplitInput, readonly string[]> = {
  role: 'splitter',
  schema: {
    type: 'object',
    properties: { parts: { type: 'array', items: { type: 'string' }, minItems: 1 } },
    required: ['parts'],
    additionalProperties: false,
  },
  format: ({ task, maxParts }) =>
    createPrompt(
      `You split a task into independent parts: the fewest that are worth it, at most ${maxParts}. Each part is done by another worker that sees only its text and the task. Reply with JSON: {"parts": ["…"]}.`,
      `The task:\n${task}`,
    ),
  read: (value): ReadResult<readonly string[]> => {
    const list = Array.isArray(value) ? (value as readonly unknown[]) : readObject(value)?.['parts'];
    if (!Array.isArray(list) || list.length === 0) return { problem: 'The splitter returned no list of parts.' };
    if (list.length > maxSplitParts)
      return { problem: `The splitter returned ${list.length} parts; at most ${maxSplitParts} are read.` };
    const parts = list.filter((part): part is string => typeof part === 'string' && part.trim() !== '');
    return parts.length === list.length ? { value: parts } : { problem: 'Every part must be a text.' };
  },
};

const workerTask: RoleTask<WorkerInput, string> = {
  role: 'worker',
  format: ({ task, part }) =>
    createPrompt(
      `You do one part of a task. Reply with its result alone; say what you could not do. ${dataSentence}`,
      `The whole task:\n${task}`,
      'Your part, as a model wrote it:',
      quoteOutside('the part', part),
    ),
  read: readText,
};

const combineTask: RoleTask<CombineInput, string> = {
  role: 'combiner',
  format: ({ task, parts }) =>
    createPrompt(
      `You answer a task from the results of its parts. ${dataSentence} If a part has no result, say what is missing; do not invent anything.`,
      `The task:\n${task}`,
      ...parts.map(({ index, part, text, why }) =>
        quoteOutside(
          `part ${index + 1}`,
          `${part}\n\n${text === undefined ? `No result: ${why ?? ''}` : `Result:\n${text}`}`,
        ),
      ),
    ),
  read: readText,
};

/** Splits a task, has its parts done in parallel and combines the results. */
export async function orchestrateWorkers(options: OrchestrateOptions): Promise<OrchestrateResult> {
  const { task, maxParts = 8, parallel = 4 } = options;
  assertPatternOptions(options);
  assertWhole('maxParts', maxParts, 1, maxSplitParts);
  assertWhole('parallel', parallel, 1, 100);
  if (options.workers.length === 0) throw badOptionError('An orchestration needs a worker.');
  const splitter = await resolveMember('splitter', options.splitter);
  const workers = await resolveMembers('worker', options.workers);
  const combiner = await resolveMember('combiner', options.combiner);

  return withPatternRun('orchestrate-workers', options, [splitter, ...workers, combiner], async (run) => {
    const done = new Map<number, WorkedPart>();
    let planned: readonly string[] = [];
    const finish = async (stop: PatternStop, detail: string, text?: string): Promise<OrchestrateResult> => {
      const parts = planned.flatMap((_, index) => done.get(index) ?? []);
      const missing = parts.filter(({ outcome }) => outcome !== 'done');
      return { ...(await run.finish(stop, detail)), text, parts, missing };
    };
    const split = await run.ask(splitter, splitTask, { task, maxParts }, { about: 'the task' });
    if (split.type === 'stopped') return finish(split.stop, split.why);
    if (split.type === 'failed') return finish('failed', `The task was not split: ${split.why}`);
    planned = split.value;
    for (const [index, part] of planned.entries()) {
      if (index < maxParts) continue;
      const why = `The limit of ${maxParts} parts was reached.`;
      done.set(index, { index, part, outcome: 'not-started', why });
      await run.skip('worker', `part ${index + 1}`, why);
    }
    const open = planned.slice(0, maxParts);
    const keep = combiner.family === codeFamily ? 0 : 1;
    let isOutOfBudget = false;
    await runPool(open, parallel, async (part, index) => {
      const worker = workers[index % workers.length] as Member;
      const shares = Math.min(parallel, open.length - index);
      const result = await run.ask(
        worker,
        workerTask,
        { task, part, index },
        { about: `part ${index + 1}`, shares, keep },
      );
      const base = { index, part, worker: worker.name };
      if (result.type === 'ok') done.set(index, { ...base, outcome: 'done', text: result.value });
      else if (isStarted(result)) done.set(index, { ...base, outcome: 'failed', why: result.why });
      else done.set(index, { index, part, outcome: 'not-started', why: result.why });
      isOutOfBudget ||= result.type === 'stopped';
    });
    const ending = run.ending();
    if (ending) return finish(ending.stop, ending.why);
    const parts = planned.flatMap((_, index) => done.get(index) ?? []);
    const succeeded = parts.filter(({ outcome }) => outcome === 'done').length;
    if (succeeded === 0) return finish('failed', `None of ${parts.length} parts was done: ${parts[0]?.why ?? ''}`);
    const combined = await run.ask(
      combiner,
      combineTask,
      { task, parts },
      { about: `${succeeded} of ${parts.length} parts` },
    );
    if (combined.type === 'stopped') return finish(combined.stop, combined.why);
    if (combined.type === 'failed') return finish('failed', `The parts were not combined: ${combined.why}`);
    const detail = `${succeeded} of ${parts.length} parts were done.`;
    return finish(isOutOfBudget ? 'budget' : 'complete', detail, combined.value);
  });
}
