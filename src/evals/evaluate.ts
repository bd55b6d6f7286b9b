// Evaluates an agent: runs every case of a dataset, scores the answers and returns the report.
import type { Agent, RunResult } from '../agent/index.ts';
import type { VerifyModel } from '../checks/index.ts';
import { FairleadError, type Json } from '../core/index.ts';
import { memoryLog, openFleetStore } from '../stores/index.ts';
import type { EvalCase, RecordedStart } from './dataset.ts';
import { judgedExpectations } from './expectation.ts';
import { assertIndependentJudges, toJudgedModel, type JudgedModel } from './judge.ts';
import { continueRecording, selectProvider, type CaseRun } from './recorded-case.ts';
import { readRecordedEvents } from './recorded-sessions.ts';
import { createEvalReport, type EvalReport } from './report.ts';
import type { EvalCaseResult, EvalTrial } from './results.ts';
import { runTrials, type EvalProgress, type RunTrialsOptions, type TrialResults } from './run-trials.ts';
import { createDirectoryCommand, withCaseDirectory } from './runner.ts';
import { scoreTrial, type RunCaseCommand } from './score-trial.ts';
import { getServedModel, toTrajectory } from './trajectory.ts';
import { runQueuedTrials } from './trial-queue.ts';

/** A scorer in addition to the expectations of a case: returns what is wrong with the result, or undefined. */
export type EvalScorer = (
  result: RunResult,
  evalCase: EvalCase,
  trial: EvalTrial,
) => string | undefined | Promise<string | undefined>;

/** A case as a program writes it: an id, a prompt and the fields of `EvalCase` that are needed. */
export type EvalCaseInput = Pick<EvalCase, 'id' | 'prompt'> & Partial<EvalCase>;

/** The options of `evaluate`. */
export type EvaluateOptions = {
  /** The cases, from `parseDataset` or from the program. Each trial is a conversation of its own. */
  readonly cases: readonly EvalCaseInput[];
  /** The agent to evaluate, or a function that creates one for the directory with the files of a case; that one is closed after the trial. */
  readonly agent: Agent | ((cwd: string, evalCase: EvalCase) => Agent | Promise<Agent>);
  /** The name of the dataset in the report. */
  readonly dataset?: string;
  readonly scorers?: readonly EvalScorer[];
  /** How often each case is run; 1 by default. */
  readonly trials?: number;
  /** How many trials run at a time; 1 by default. */
  readonly parallel?: number;
  /** The models that judge, of other families than the evaluated model. */
  readonly judges?: readonly VerifyModel[];
  /** Allows judges of the family of the evaluated model; false by default. */
  readonly allowSameFamily?: boolean;
  /** Runs the commands of cases with `code`; in the sandbox of the user's settings by default. */
  readonly runCommand?: RunCaseCommand;
  /** Called with each case when its last trial has ended. */
  readonly onResult?: (result: EvalCaseResult) => void;
  readonly onProgress?: (progress: EvalProgress) => void;
  /** A SQLite file for the results, which makes the evaluation resumable: trials that it has are not run again. */
  readonly results?: string;
  /** What the results depend on besides the cases, such as the version of the agent; part of the identity of `results`. */
  readonly configuration?: Json;
  /** Ends the evaluation; cases that were not run are not in the report. */
  readonly signal?: AbortSignal;
};

/** Runs the cases and returns the report. A call that needs approval is a trial without an answer. */
export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  const { agent: source, dataset = 'dataset', judges = [], runCommand = createDirectoryCommand() } = options;
  const cases = options.cases.map((input): EvalCase => ({
    expect: {},
    tags: [],
    tools: true,
    files: {},
    ...input,
  }));
  assertJudged(cases, judges);
  const when = new Date().toISOString();
  let model = '';
  const runTrial = (evalCase: EvalCase, trial: number, signal: AbortSignal): Promise<EvalTrial> =>
    withCaseDirectory(evalCase.files, async (cwd) => {
      const agent = typeof source === 'function' ? await source(cwd, evalCase) : withoutFiles(source, evalCase);
      try {
        const { provider } = await agent.resolve();
        model ||= provider.model;
        const judged = toJudgedModel(provider.model, provider.family);
        if (judges.length > 0) assertIndependentJudges(judges, judged, options);
        return await runWithAgent(agent, evalCase, trial, { ...options, cwd, judged, runCommand, signal });
      } finally {
        if (agent !== source) await agent.close();
      }
    });
  const { trials, parallel, signal, onProgress, onResult } = options;
  const run: RunTrialsOptions = {
    cases,
    runTrial,
    ...(trials === undefined ? {} : { trials }),
    ...(parallel === undefined ? {} : { parallel }),
    ...(signal ? { signal } : {}),
    ...(onProgress ? { onProgress } : {}),
    ...(onResult ? { onResult } : {}),
  };
  const { results: file, configuration = null } = options;
  const results = await (file === undefined ? runTrials(run) : runTrialsInFile(file, configuration, run));
  return createEvalReport({ dataset, model, when, interrupted: results.interrupted }, results.cases);
}

/** Runs trials on the queue of a SQLite file; those that it has are not run again. */
export async function runTrialsInFile(file: string, configuration: Json, run: RunTrialsOptions): Promise<TrialResults> {
  const store = await openFleetStore(`sqlite:${file}`);
  try {
    return await runQueuedTrials({ ...run, store, configuration });
  } finally {
    await store.close();
  }
}

/** Returns true if a case has an expectation that only a judge can decide. */
export const needsJudge = (cases: readonly EvalCase[]): boolean =>
  cases.some((each) => findJudgedKind(each) !== undefined);

const findJudgedKind = ({ expect }: EvalCase): string | undefined =>
  judgedExpectations.find((kind) => expect[kind] !== undefined);

/** Throws before the first request if a case needs a judge and there is none. */
function assertJudged(cases: readonly EvalCase[], judges: readonly VerifyModel[]): void {
  if (judges.length > 0) return;
  for (const each of cases) {
    const kind = findJudgedKind(each);
    if (kind === undefined) continue;
    throw new FairleadError(
      'eval/no-judge',
      `The case ${each.id} has the expectation ${kind}, but there is no judge.`,
      {
        blame: 'user',
        hint: 'Give a model of another family as judges.',
      },
    );
  }
}

type TrialContext = Pick<EvaluateOptions, 'scorers' | 'judges'> & {
  readonly cwd: string;
  readonly judged: JudgedModel;
  readonly runCommand: RunCaseCommand;
  readonly signal: AbortSignal;
};

async function runWithAgent(
  agent: Agent,
  evalCase: EvalCase,
  trial: number,
  { scorers = [], judges = [], cwd, judged, runCommand, signal }: TrialContext,
): Promise<EvalTrial> {
  const { run, events, durationMs } = evalCase.session
    ? await runRecorded(agent, evalCase, evalCase.session, signal)
    : await runPrompt(agent, evalCase, signal);
  const scored = await scoreTrial(
    evalCase,
    { trial, run, trajectory: toTrajectory(events), durationMs, servedModel: getServedModel(events) },
    { cwd, judges, judged, runCommand, signal },
  );
  if (!scored.responded || run.status !== 'success') return scored;
  const found = await Promise.all(scorers.map(async (score) => score(run, evalCase, scored)));
  const errors = [...scored.errors, ...found.filter((each) => each !== undefined)];
  return { ...scored, errors, right: errors.length === 0 };
}

async function runPrompt(agent: Agent, { prompt, expect }: EvalCase, signal: AbortSignal): Promise<CaseRun> {
  const log = memoryLog();
  await using session = await agent.session({ store: { open: async () => log } });
  const since = performance.now();
  const run = await session.run(prompt, { signal, ...(expect.json ? { outputSchema: expect.json } : {}) });
  return { run, events: log.events, durationMs: performance.now() - since };
}

async function runRecorded(
  agent: Agent,
  { id }: EvalCase,
  start: RecordedStart,
  signal: AbortSignal,
): Promise<CaseRun> {
  const recording = await readRecordedEvents({ name: id, file: start.file });
  const resolved = await agent.resolve();
  const own = { ...resolved, provider: selectProvider(resolved.provider, start, recording) };
  return continueRecording(own, start, recording, { signal });
}

function withoutFiles(agent: Agent, { id, files }: EvalCase): Agent {
  if (Object.keys(files).length === 0) return agent;
  throw new FairleadError('eval/no-directory', `The case ${id} has files, but the agent has no directory for them.`, {
    blame: 'user',
    hint: 'Give a function: agent: (cwd) => codingAgent({ cwd }).',
  });
}
