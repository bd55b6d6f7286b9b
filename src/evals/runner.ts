// Runs eval cases: each in its own session with the real loop and the user's policy, in a temporary directory.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createOutputSchema, toRunResult, Session, type RunResult } from '../agent/index.ts';
import { FairleadError, type Provider } from '../core/index.ts';
import { outcomeClasses } from '../fleet/health/index.ts';
import { sessionGrants } from '../guards/index.ts';
import { memoryLog } from '../stores/index.ts';
import type { ResolvedModel } from '../coding-agent/models/index.ts';
import { createCodingAgent, findPrivacyLabel, assertLocalModel } from '../coding-agent/index.ts';
import type { Settings } from '../coding-agent/settings/index.ts';
import type { EvalCase } from './dataset.ts';
import { isAbstention } from '../checks/index.ts';
import { findAnswerErrors } from './scorers.ts';

/** The result of a case. */
export type EvalCaseResult = {
  readonly id: string;
  readonly tags: readonly string[];
  /** True if the model responded; if it failed or was cancelled, nothing was measured. */
  readonly responded: boolean;
  readonly right: boolean;
  /** True if abstaining was correct. */
  readonly shouldAbstain: boolean;
  /** True if the answer abstained or a check abstained. */
  readonly abstained: boolean;
  /** Why the answer is wrong. */
  readonly errors: readonly string[];
  readonly reason: string;
  readonly text: string;
  readonly durationMs: number;
  readonly costUsd?: number;
};

/** Options of an eval run. */
export type EvalContext = {
  readonly settings: Settings;
  readonly model: ResolvedModel;
  readonly provider: Provider;
  readonly autoApprove: boolean;
  readonly signal: AbortSignal;
};

const maxTurns = 20;

/** Runs one case with the coding agent and scores it. */
export async function runEvalCase(asked: EvalCase, context: EvalContext): Promise<EvalCaseResult> {
  const { settings, model, provider, autoApprove, signal } = context;
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
      // Private data stays on this machine, whichever of the user's files demands it.
      if (findPrivacyLabel({ private: false }, settings, agent.instructions) !== undefined)
        await assertLocalModel(model, settings);
      const resolved = agent.forModel(provider, asked.tools && model.tools !== false);
      const session = await Session.open(resolved, memoryLog());
      const limits = { turns: maxTurns, ...settings.limits };
      const since = performance.now();
      const state = await session.advance(asked.prompt, { signal, limits });
      return scoreCase(asked, toRunResult(state, { runId: '', sessionId: '' }), performance.now() - since);
    } finally {
      await agent.close();
    }
  });
}

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

/** Compares the result of a case with its expectations. */
export function scoreCase(
  evalCase: EvalCase,
  { reason, text, detail, costUsd }: RunResult,
  ms: number,
): EvalCaseResult {
  const outcome = reason === 'waiting' ? 'limited' : outcomeClasses[reason];
  const responded = reason !== 'provider-error' && outcome !== 'cancelled';
  const abstained = outcome === 'abstained' || (outcome === 'answered' && isAbstention(text));
  const shouldAbstain = evalCase.expect.abstains === true;
  const errors = findCaseErrors(evalCase, text, outcome, detail ?? reason);
  return {
    id: evalCase.id,
    tags: evalCase.tags,
    responded,
    right: responded && errors.length === 0,
    shouldAbstain,
    abstained,
    errors,
    reason,
    text,
    durationMs: Math.round(ms),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function findCaseErrors({ expect }: EvalCase, text: string, outcome: string, ended: string): readonly string[] {
  if (outcome === 'abstained') return expect.abstains === true ? [] : ['It abstains where an answer was due.'];
  return outcome === 'answered' ? findAnswerErrors(text, expect) : [`There is no answer: ${ended.replace(/\.$/, '')}.`];
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
