// Measures whether a model became worse: runs a dataset, saves the result beside the baseline of the same provider, model and cases, and compares them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, FairleadError, isObject, zeroUsage, type FleetRun, type RunSettlement } from '../core/index.ts';
import type { RunHandlerContext } from '../fleet/index.ts';
import {
  compareMeasurements,
  computeModelDrift,
  getBaselinesDir,
  saveModelMeasurement,
  type Drift,
  type ModelBaseline,
} from '../fleet/health/index.ts';
import { openModel, resolveModelUnattended } from '../coding-agent/models/index.ts';
import type { ModelHost } from '../coding-agent/index.ts';
import { readSettings, type Settings } from '../coding-agent/settings/index.ts';
import { writeTextAtomic } from '../stores/index.ts';
import { builtinDataset } from './builtin-dataset.ts';
import { parseDataset, type EvalCase } from './dataset.ts';
import { needsJudge } from './evaluate.ts';
import { readDataset } from './read-dataset.ts';
import { createEvalReport, formatRate, type EvalReport } from './report.ts';
import { runTrials, type EvalProgress } from './run-trials.ts';
import { runEvalTrial } from './runner.ts';
import { getEvaluationId } from './trial-queue.ts';

/** What is measured. */
export type DriftPlan = {
  /** The file of the dataset; the built-in trap set if it is absent. */
  readonly dataset?: string;
  readonly model?: string;
  readonly trials?: number;
  readonly parallel?: number;
};

/** The options of `measureModelDrift`. */
export type DriftRunOptions = DriftPlan & {
  readonly settings: Settings;
  readonly host: ModelHost;
  readonly signal: AbortSignal;
  /** Makes this evaluation the new baseline. */
  readonly accept?: boolean;
  readonly onProgress?: (progress: EvalProgress) => void;
};

/** The result: the report, and how it differs from the baseline. */
export type DriftResult = {
  readonly report: EvalReport;
  readonly saved: ModelBaseline;
  readonly drift: Drift;
  /** True if the model drifted and its rate is lower. */
  readonly isWorse: boolean;
};

/** Evaluates a model and compares it with its baseline; the first evaluation is the baseline. Nothing is saved unless every trial had a response. */
export async function measureModelDrift(options: DriftRunOptions): Promise<DriftResult> {
  const { settings, host, signal, dataset, trials = 1, parallel = 1, accept = false, onProgress } = options;
  const cases = await readPlanCases(dataset);
  const model = await resolveModelUnattended({ model: options.model }, settings);
  if (model.router !== undefined)
    throw new FairleadError('eval/router', 'A baseline needs one model, but a router selects among several.', {
      blame: 'user',
      hint: 'Name one with --model.',
    });
  const provider = await openModel(model, settings, host);
  const when = new Date().toISOString();
  const context = { settings, model, provider, autoApprove: false };
  const results = await runTrials({
    cases,
    trials,
    parallel,
    signal,
    runTrial: (evalCase, trial, own) => runEvalTrial(evalCase, trial, { ...context, signal: own }),
    ...(onProgress ? { onProgress } : {}),
  });
  const name = dataset === undefined ? 'the trap set' : path.basename(dataset);
  const report = createEvalReport({ dataset: name, model: model.name, when }, results.cases);
  if (results.interrupted || report.withoutResponse > 0)
    throw new FairleadError(
      'eval/incomplete',
      `Not every trial had a response, so nothing is compared with the baseline.`,
      {
        blame: 'provider',
        retry: true,
      },
    );
  const saved = saveModelMeasurement(
    getBaselinesDir(settings.dirs.state),
    { provider: model.ref.provider, model: model.ref.model, dataset: name, datasetId: getEvaluationId(cases, null) },
    {
      good: report.right.good,
      total: report.right.total,
      when,
      version: (report.servedModels ?? []).join(', '),
      cases: Object.fromEntries(
        report.cases.map(({ id, trials: own }) => [id, own.filter(({ right }) => right).length / own.length]),
      ),
    },
    { accept },
  );
  const [drift] = computeModelDrift([saved]);
  if (!drift) throw new RangeError('There is no drift of a saved baseline.');
  const lower = saved.latest !== undefined && compareMeasurements(saved.baseline, saved.latest).value < 0;
  return { report, saved, drift, isWorse: drift.verdict === 'drifted' && lower };
}

async function readPlanCases(dataset: string | undefined): Promise<readonly EvalCase[]> {
  const cases =
    dataset === undefined ? parseDataset(builtinDataset.join('\n'), 'the trap set') : await readDataset(dataset);
  if (!needsJudge(cases)) return cases;
  throw new FairleadError('eval/no-judge', 'A baseline has no judge: a judge can change too.', {
    blame: 'user',
    hint: 'Use cases without judge, rubric and goalReached.',
  });
}

/** Formats the result in one or two sentences. */
export function formatDriftResult({ saved, drift, report }: DriftResult): string {
  if (!saved.latest)
    return `${saved.provider}/${saved.model}: ${formatRate(report.right)}. This is the baseline now.\n`;
  const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
  const change = drift.change
    ? `${points(drift.change.value)} points (${points(drift.change.interval[0])} to ${points(drift.change.interval[1])})`
    : 'no comparison';
  return `${drift.description}: ${formatRate(report.right)}, ${change}: ${drift.verdict}.\n`;
}

/** The kind of the runs that measure drift. */
export const driftRunKind = 'eval-drift';

const planName = /^[a-z\d][a-z\d-]{0,62}$/i;

const planFile = (state: string, name: string): string => path.join(state, 'evals', 'plans', `${name}.json`);

/** Saves a plan under a name. A run in the queue has the name alone: what is read and run is decided on this machine. */
export function saveDriftPlan(state: string, name: string, plan: DriftPlan): void {
  if (!planName.test(name)) throw new TypeError('--name has letters, digits and dashes.');
  writeTextAtomic(planFile(state, name), `${JSON.stringify({ format: 1, ...plan })}\n`);
}

function readDriftPlan(state: string, name: unknown): DriftPlan {
  try {
    if (typeof name !== 'string' || !planName.test(name)) throw new Error('it has no valid name');
    const value: unknown = JSON.parse(readFileSync(planFile(state, name), 'utf8'));
    if (isObject(value) && value['format'] === 1) return toPlan(value);
    throw new Error('it is damaged');
  } catch (error) {
    throw new FairleadError('eval/no-plan', `The plan of the baseline cannot be read: ${errorMessage(error)}`, {
      blame: 'user',
      hint: 'Save it on the machine of the worker with "fairlead evals drift --every".',
    });
  }
}

const toPlan = ({ dataset, model, trials, parallel }: Readonly<Record<string, unknown>>): DriftPlan => ({
  ...(typeof dataset === 'string' ? { dataset } : {}),
  ...(typeof model === 'string' ? { model } : {}),
  ...(typeof trials === 'number' ? { trials } : {}),
  ...(typeof parallel === 'number' ? { parallel } : {}),
});

/** Handles a scheduled run: measures the model and ends with the result as its answer. An error ends the run; the schedule starts the next one. */
export async function handleDriftRun(
  run: FleetRun,
  { signal, assertNotStopped }: Pick<RunHandlerContext, 'signal' | 'assertNotStopped'>,
  notify: (text: string) => void,
): Promise<RunSettlement> {
  await assertNotStopped();
  const settings = readSettings();
  const since = performance.now();
  const end = (reason: 'answered' | 'provider-error', text: string, spent = zeroUsage): RunSettlement => ({
    type: 'completed',
    outcome: {
      reason,
      text: reason === 'answered' ? text : '',
      spent,
      ...(reason === 'answered' ? {} : { detail: text }),
    },
  });
  try {
    const plan = readDriftPlan(settings.dirs.state, run.settings['plan']);
    const result = await measureModelDrift({
      ...plan,
      settings,
      signal,
      host: { confirm: async () => false, progress: () => {}, notify },
    });
    const { cost } = result.report;
    if (result.isWorse) notify(`Worse than its baseline: ${formatDriftResult(result).trim()}`);
    return end('answered', formatDriftResult(result), {
      ...zeroUsage,
      input: cost.inputTokens,
      output: cost.outputTokens,
      usd: cost.usd,
      turnsWithoutPrice: cost.trialsWithoutPrice,
      ms: Math.round(performance.now() - since),
    });
  } catch (error) {
    if (signal.aborted) return { type: 'released' };
    return end('provider-error', errorMessage(error));
  }
}
