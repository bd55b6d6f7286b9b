// Scores a trial: the answer, the trajectory, the command of the case, the judges and the evidence. What cannot be checked is wrong.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RunResult } from '../agent/index.ts';
import { isAbstention, verifyAnswer, type Evidence, type VerifyModel } from '../checks/index.ts';
import { errorMessage } from '../core/index.ts';
import { outcomeClasses } from '../fleet/health/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import type { EvalCase } from './dataset.ts';
import { judgeCondition, judgeGoal, judgeRubric, type JudgedAnswer, type JudgedModel } from './judge.ts';
import type { EvalTrial, TrajectoryStep } from './results.ts';
import { findAnswerErrors } from './scorers.ts';
import { findTrajectoryErrors } from './trajectory.ts';

/** Runs the command of a case in its directory, confined; returns the exit code and the output. */
export type RunCaseCommand = (
  command: string,
  options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<{ readonly code: number | null; readonly text: string }>;

/** What the scorers of a trial use. */
export type ScoringContext = {
  /** The directory of the case, where its command runs. */
  readonly cwd?: string;
  readonly judges?: readonly VerifyModel[];
  /** The model that answered; it does not decide about its own claims. */
  readonly judged?: JudgedModel;
  readonly runCommand?: RunCaseCommand;
  readonly signal?: AbortSignal;
};

/** What a trial returned. */
export type TrialRun = {
  readonly trial: number;
  readonly run: RunResult;
  readonly trajectory: readonly TrajectoryStep[];
  readonly durationMs: number;
  /** The model as the provider named it. */
  readonly servedModel?: string | undefined;
};

/** Compares a trial with the expectations of its case. */
export async function scoreTrial(
  evalCase: EvalCase,
  { trial, run, trajectory, durationMs, servedModel }: TrialRun,
  context: ScoringContext = {},
): Promise<EvalTrial> {
  const { reason, text, detail, costUsd, usage, turns } = run;
  const outcome = reason === 'waiting' ? 'limited' : outcomeClasses[reason];
  const responded = reason !== 'provider-error' && outcome !== 'cancelled';
  const found = responded
    ? await findTrialErrors(evalCase, text, { outcome, ended: detail ?? reason, trajectory }, context)
    : { errors: [`There is no answer: ${(detail ?? reason).replace(/\.$/, '')}.`], judgeUsd: undefined };
  return {
    trial,
    responded,
    right: responded && found.errors.length === 0,
    abstained: outcome === 'abstained' || (outcome === 'answered' && isAbstention(text)),
    errors: found.errors,
    reason,
    text,
    durationMs: Math.round(durationMs),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(found.judgeUsd === undefined ? {} : { judgeUsd: found.judgeUsd }),
    usage,
    ...(servedModel === undefined ? {} : { servedModel }),
    turns,
    trajectory,
  };
}

type Ended = {
  readonly outcome: string;
  readonly ended: string;
  readonly trajectory: readonly TrajectoryStep[];
};

async function findTrialErrors(
  evalCase: EvalCase,
  text: string,
  { outcome, ended, trajectory }: Ended,
  context: ScoringContext,
): Promise<{ readonly errors: readonly string[]; readonly judgeUsd: number | undefined }> {
  const { expect } = evalCase;
  const wrong = findTrajectoryErrors(trajectory, expect);
  if (outcome === 'abstained') {
    const errors = expect.abstains === true ? wrong : ['It abstains where an answer was due.', ...wrong];
    return { errors, judgeUsd: undefined };
  }
  if (outcome !== 'answered')
    return { errors: [`There is no answer: ${ended.replace(/\.$/, '')}.`, ...wrong], judgeUsd: undefined };
  const errors = [...findAnswerErrors(text, expect), ...wrong];
  const command = await findCommandError(evalCase, context);
  if (command !== undefined) errors.push(command);
  // Judges cost money: a trial that is wrong already is not judged.
  if (errors.length > 0) return { errors, judgeUsd: undefined };
  return findJudgedErrors(evalCase, { prompt: evalCase.prompt, text, trajectory }, context);
}

/** The number of characters of the output of a command in an error. */
const maxOutputChars = 300;

/** Writes the files of the command, runs it, and returns what is wrong with its result. */
export async function findCommandError({ expect }: EvalCase, context: ScoringContext): Promise<string | undefined> {
  if (!expect.code) return undefined;
  const { cwd, runCommand, signal = new AbortController().signal } = context;
  if (cwd === undefined || !runCommand) return 'Its command was not run: there is no directory or no sandbox for it.';
  const { command, timeoutSeconds, files = {} } = expect.code;
  try {
    await writeTestFiles(cwd, files);
    const { code, text } = await runCommand(command, { cwd, timeoutMs: 1000 * timeoutSeconds, signal });
    if (code === 0) return undefined;
    const output = text.trim().replaceAll(/\s+/g, ' ').slice(-maxOutputChars);
    return `Its command ended with ${code === null ? 'no exit code' : `exit code ${code}`}${output === '' ? '.' : `: ${output}`}`;
  } catch (error) {
    return `Its command was not run: ${errorMessage(error)}`;
  }
}

/** Writes files into the directory of a case. The agent may have put links there: the workspace follows none out of it. */
async function writeTestFiles(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(files);
  if (entries.length === 0) return;
  const workspace = localWorkspace({ roots: [cwd], cwd });
  for (const [name, text] of entries) {
    if (existsSync(path.join(cwd, name))) await workspace.read(name);
    await workspace.write(name, text);
  }
}

async function findJudgedErrors(
  evalCase: EvalCase,
  answer: JudgedAnswer,
  context: ScoringContext,
): Promise<{ readonly errors: readonly string[]; readonly judgeUsd: number | undefined }> {
  const { judges = [], signal = new AbortController().signal } = context;
  const { judge, rubric, goalReached, supported } = evalCase.expect;
  const asked = await Promise.all([
    judge === undefined ? undefined : judgeCondition(judge, answer, judges, signal),
    rubric === undefined ? undefined : judgeRubric(rubric, answer, judges, signal),
    goalReached === undefined ? undefined : judgeGoal(goalReached, answer, judges, signal),
    supported === undefined ? undefined : findUnsupported(evalCase, answer, context),
  ]);
  const results = asked.filter((each) => each !== undefined);
  return {
    errors: results.flatMap(({ error }) => error ?? []),
    judgeUsd: results.length === 0 ? undefined : results.reduce((sum, { usd }) => sum + usd, 0),
  };
}

/** Longer evidence is cut. */
const maxEvidenceChars = 1_000_000;

/** Verifies every claim of the answer by the evidence alone: exactly, or by judges of other families. */
async function findUnsupported(
  { expect, files }: EvalCase,
  { prompt, text }: JudgedAnswer,
  { judges = [], judged, signal }: ScoringContext,
): Promise<{ readonly error: string | undefined; readonly usd: number }> {
  try {
    const evidence = [
      ...(expect.supported?.evidence ?? []).map((given, i) => toEvidence(`evidence ${i + 1}`, given)),
      ...(expect.supported?.files ?? []).map((name) => toEvidence(name, getCaseFile(files, name))),
    ];
    const families = new Set(judges.map(({ family }) => family)).size;
    const { claims, outcome, why, spent } = await verifyAnswer({
      answer: text,
      question: prompt,
      evidence,
      judges,
      // With one judge there is no second family that could vote.
      quorum: Math.min(2, Math.max(1, families)),
      independent: false,
      ...(judged ? { author: judged } : {}),
      ...(signal ? { signal } : {}),
    });
    const open = claims.find(({ verdict }) => verdict.type !== 'supported');
    const error = open
      ? `The evidence does not support "${open.text.slice(0, 200)}": ${open.verdict.why}`
      : outcome === 'verified' || (claims.length > 0 && families === 0)
        ? undefined
        : `The evidence does not support the answer: ${why}`;
    return { error, usd: spent.usd };
  } catch (error) {
    return { error: `The evidence was not compared: ${errorMessage(error)}`, usd: 0 };
  }
}

const toEvidence = (name: string, text: string): Evidence => ({
  source: { type: 'given', name },
  text: text.slice(0, maxEvidenceChars),
});

/** The file as the dataset has it: the agent may have changed the one in its directory. */
function getCaseFile(files: EvalCase['files'], name: string): string {
  const text = Object.hasOwn(files, name) ? files[name] : undefined;
  if (text === undefined) throw new Error(`the case has no file ${name}.`);
  return text;
}
