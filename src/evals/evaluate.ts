// Evaluates an agent: runs every case of a dataset, scores the answers and returns the report.
import type { Agent, RunResult } from '../agent/index.ts';
import { FairleadError } from '../core/index.ts';
import type { EvalCase } from './dataset.ts';
import { createEvalReport, type EvalReport } from './report.ts';
import { scoreCase, withCaseDirectory, type EvalCaseResult } from './runner.ts';

/** A scorer in addition to the expectations of a case: returns what is wrong with the result, or undefined. */
export type EvalScorer = (result: RunResult, evalCase: EvalCase) => string | undefined | Promise<string | undefined>;

/** A case as a program writes it: an id, a prompt and the fields of `EvalCase` that are needed. */
export type EvalCaseInput = Pick<EvalCase, 'id' | 'prompt'> & Partial<EvalCase>;

/** The options of `evaluate`. */
export type EvaluateOptions = {
  /** The cases, from `parseDataset` or from the program. Each is a conversation of its own. */
  readonly cases: readonly EvalCaseInput[];
  /** The agent to evaluate, or a function that creates one for the directory with the files of a case; that one is closed after the case. */
  readonly agent: Agent | ((cwd: string, evalCase: EvalCase) => Agent | Promise<Agent>);
  /** The name of the dataset in the report. */
  readonly dataset?: string;
  readonly scorers?: readonly EvalScorer[];
  /** Called after each case, in order. */
  readonly onResult?: (result: EvalCaseResult) => void;
  /** Ends the evaluation; cases that were not run are not in the report. */
  readonly signal?: AbortSignal;
};

/** Runs the cases one after the other and returns the report. A call that needs approval is a case without an answer. */
export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  const { agent: source, dataset = 'dataset', scorers = [], onResult, signal } = options;
  const when = new Date().toISOString();
  const results: EvalCaseResult[] = [];
  let model = '';
  for (const input of options.cases) {
    if (signal?.aborted) break;
    const evalCase: EvalCase = { expect: {}, tags: [], tools: true, files: {}, ...input };
    const result = await withCaseDirectory(evalCase.files, async (cwd) => {
      const agent = typeof source === 'function' ? await source(cwd, evalCase) : withoutFiles(source, evalCase);
      try {
        model ||= (await agent.resolve()).provider.model;
        return await runCase(agent, evalCase, scorers, signal);
      } finally {
        if (agent !== source) await agent.close();
      }
    });
    results.push(result);
    onResult?.(result);
  }
  return createEvalReport({ dataset, model, when }, results);
}

async function runCase(
  agent: Agent,
  evalCase: EvalCase,
  scorers: readonly EvalScorer[],
  signal: AbortSignal | undefined,
): Promise<EvalCaseResult> {
  const { json } = evalCase.expect;
  const since = performance.now();
  const run = await agent.run(evalCase.prompt, {
    ...(json ? { outputSchema: json } : {}),
    ...(signal ? { signal } : {}),
  });
  const scored = scoreCase(evalCase, run, performance.now() - since);
  if (!scored.responded || run.status !== 'success') return scored;
  const found = await Promise.all(scorers.map(async (score) => score(run, evalCase)));
  const errors = [...scored.errors, ...found.filter((each) => each !== undefined)];
  return { ...scored, errors, right: errors.length === 0 };
}

function withoutFiles(agent: Agent, { id, files }: EvalCase): Agent {
  if (Object.keys(files).length === 0) return agent;
  throw new FairleadError('eval/no-directory', `The case ${id} has files, but the agent has no directory for them.`, {
    blame: 'user',
    hint: 'Give a function: agent: (cwd) => codingAgent({ cwd }).',
  });
}
