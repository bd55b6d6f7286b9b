// Runs trials of eval cases: each in its own session with the real loop and the user's policy, in a temporary directory.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createOutputSchema, toRunResult, Session } from '../agent/index.ts';
import type { VerifyModel } from '../checks/index.ts';
import { FairleadError, fold, type Provider, type Workspace } from '../core/index.ts';
import { sessionGrants, withSandbox, type Sandbox } from '../guards/index.ts';
import { memoryLog } from '../stores/index.ts';
import type { ResolvedModel } from '../coding-agent/models/index.ts';
import {
  createCodingAgent,
  type CodingAgent,
  findPrivacyLabel,
  assertLocalModel,
  privacyView,
  selectSandbox,
} from '../coding-agent/index.ts';
import { readSettings, type Settings } from '../coding-agent/settings/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import type { EvalCase } from './dataset.ts';
import { toJudgedModel } from './judge.ts';
import { continueRecording, selectProvider, type CaseRun } from './recorded-case.ts';
import { readRecordedEvents } from './recorded-sessions.ts';
import type { EvalTrial } from './results.ts';
import { scoreTrial, type RunCaseCommand } from './score-trial.ts';
import { getServedModel, toTrajectory } from './trajectory.ts';

/** Options of an eval run. */
export type EvalContext = {
  readonly settings: Settings;
  readonly model: ResolvedModel;
  readonly provider: Provider;
  readonly autoApprove: boolean;
  readonly signal: AbortSignal;
  /** The models that judge; cases with a judge, a rubric or a goal need one. */
  readonly judges?: readonly VerifyModel[];
};

const maxTurns = 20;

/** Runs one trial of a case with the coding agent and scores it. */
export async function runEvalTrial(asked: EvalCase, trial: number, context: EvalContext): Promise<EvalTrial> {
  const { settings, model, autoApprove, signal, judges = [] } = context;
  return withCaseDirectory(asked.files, async (cwd) => {
    const { json } = asked.expect;
    const agent = await createCodingAgent({
      settings,
      cwd,
      autoApprove: () => autoApprove,
      grants: sessionGrants(),
      codeOnly: false,
      ...(json ? { outputSchema: createOutputSchema(json) } : {}),
    });
    try {
      const { run, events, durationMs } = await runCase(asked, agent, context);
      const { sandbox, workspace } = agent;
      return await scoreTrial(
        asked,
        { trial, run, trajectory: toTrajectory(events), durationMs, servedModel: getServedModel(events) },
        {
          cwd,
          judges,
          judged: toJudgedModel(model.name, model.ref.provider, model.ref.model),
          runCommand: createCommandRunner(workspace, sandbox),
          signal,
        },
      );
    } finally {
      await agent.close();
    }
  });
}

/** Runs the prompt of a case, or continues its recording. */
async function runCase(asked: EvalCase, agent: CodingAgent, context: EvalContext): Promise<CaseRun> {
  const { settings, model, provider, signal } = context;
  const limits = { turns: maxTurns, ...settings.limits };
  const recording = asked.session && (await readRecordedEvents({ name: asked.id, file: asked.session.file }));
  // Private data stays on this machine, whichever of the user's files or the recording demands it.
  const isPrivate = recording !== undefined && fold(privacyView, recording);
  const isLive = asked.session?.mode !== 'recorded';
  if (isLive && findPrivacyLabel({ private: isPrivate }, settings, agent.instructions) !== undefined)
    await assertLocalModel(model, settings);
  const callsTools = asked.tools && model.tools !== false;
  if (asked.session && recording) {
    const resolved = agent.forModel(selectProvider(provider, asked.session, recording), callsTools);
    return continueRecording(resolved, asked.session, recording, { signal, limits });
  }
  const log = memoryLog();
  const session = await Session.open(agent.forModel(provider, callsTools), log);
  const since = performance.now();
  const state = await session.advance(asked.prompt, { signal, limits });
  const durationMs = performance.now() - since;
  return { run: toRunResult(state, { runId: '', sessionId: '' }), events: log.events, durationMs };
}

/** Returns a function that runs the commands of cases in the sandbox that the settings of the user select. */
export const createDirectoryCommand = (): RunCaseCommand => async (command, options) => {
  const workspace = localWorkspace({ roots: [options.cwd], cwd: options.cwd });
  const sandbox = await selectSandbox(readSettings(), workspace.cwd);
  return createCommandRunner(workspace, sandbox)(command, options);
};

/** Returns a function that runs the command of a case confined. Without a working sandbox every command is refused. */
export function createCommandRunner(workspace: Workspace, sandbox: Sandbox): RunCaseCommand {
  const confined = withSandbox(workspace, sandbox);
  return async (command, { timeoutMs, signal }) =>
    confined.exec(command, { timeoutMs, signal, maxChars: maxCommandChars });
}

const maxCommandChars = 20_000;

/** Calls `use` with a temporary directory that contains these files, and removes it. */
export async function withCaseDirectory<T>(files: EvalCase['files'], use: (cwd: string) => Promise<T>): Promise<T> {
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-eval-')));
  try {
    writeCaseFiles(cwd, files);
    return await use(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function writeCaseFiles(directory: string, files: EvalCase['files']): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.resolve(directory, name);
    if (!file.startsWith(`${directory}${path.sep}`))
      throw new FairleadError('eval/bad-dataset', `The file ${name} of a case is outside its directory.`, {
        blame: 'user',
      });
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
