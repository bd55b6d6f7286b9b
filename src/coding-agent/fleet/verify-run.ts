// Handles queued verifications: the question is the prompt, and the report is recorded in the session of the run.
import { isObject, type FleetRun, type Json, type JsonObject, type Limits } from '../../core/index.ts';
import type { Evidence, VerificationReport, VerifyBudget } from '../../checks/index.ts';
import { createTaskRunHandler, type RunHandler, type TaskContext, type TaskResult } from '../../fleet/index.ts';
import type { ModelHost } from '../models/open-model.ts';
import { getDefaultModel } from '../models/resolve-model.ts';
import { readSettingsWith, type Settings } from '../settings/index.ts';
import type { VerificationRequest } from '../verification/index.ts';
import { resolveRunFolder } from './run-folder.ts';

/** Options of queued verifications. */
export type VerifyRunOptions = {
  /** The model of runs that name none. */
  readonly model?: string | undefined;
  /** The config directory, such as that of a release; by default that of the user. `model` is then the model that answers in all runs. */
  readonly configDir?: string;
};

/** Creates the handler of verifications with the models of this machine. */
export const createVerifyRunHandler = (notify: (text: string) => void, options: VerifyRunOptions = {}): RunHandler =>
  createTaskRunHandler(async (run, context) => {
    const { runVerification } = await import('../verification/index.ts');
    const settings = {
      ...readSettingsWith(resolveRunFolder(run.settings), options.configDir),
      tenant: run.tenant,
    };
    const log = (text: string): void => notify(`${run.id}: ${text.trimEnd()}`);
    for (const warning of settings.warnings) log(warning);
    const report = await runVerification(toRequest(run, settings, context, log, options));
    return toResult(report);
  });

function toRequest(
  { prompt, settings: requested }: FleetRun,
  settings: Settings,
  { signal, wrapProvider, onProgress }: TaskContext,
  log: (text: string) => void,
  { model: defaultModel, configDir }: VerifyRunOptions,
): VerificationRequest {
  // Only the model that the operator configured may be downloaded.
  const host: ModelHost = { confirm: async () => false, progress: () => {}, notify: log };
  const { claim, model, models, private: isPrivate } = requested;
  const configured = getDefaultModel(settings, defaultModel);
  // The author of a given answer is a fact; the model that answers is that of the release.
  const isFixed = configDir !== undefined && typeof claim !== 'string';
  const named = typeof model === 'string' && !isFixed ? model : undefined;
  // The author of a given answer is known only if the run names it.
  const author = named ?? (typeof claim === 'string' ? undefined : configured);
  const numbers = selectNumbers(requested, ['quorum', 'drafts', 'samples', 'maxErrorRate']);
  return {
    settings,
    host,
    question: prompt,
    ...(typeof claim === 'string' ? { answer: claim } : {}),
    ...(author === undefined ? {} : { model: author }),
    isRequested: author !== configured || models !== undefined,
    ...(Array.isArray(models) ? { judges: models.filter((each) => typeof each === 'string') } : {}),
    evidence: parseDocuments(requested['documents']),
    ...numbers,
    ...(requested['chain'] === true ? { chain: true } : {}),
    ...(typeof requested['independent'] === 'boolean' ? { independent: requested['independent'] } : {}),
    budget: toBudget(requested['limits'], settings.limits),
    ...(isPrivate === true ? { isPrivate } : {}),
    wrapProvider,
    signal,
    onProgress: (progress) => onProgress({ ...progress }),
  };
}

const selectNumbers = (settings: JsonObject, keys: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = settings[key];
      return typeof value === 'number' ? [[key, value] as const] : [];
    }),
  );

/** The texts that a client gave as evidence. */
function parseDocuments(documents: Json | undefined): readonly Evidence[] {
  if (!Array.isArray(documents)) return [];
  return (documents as readonly Json[]).flatMap((each): readonly Evidence[] => {
    if (!isObject(each) || typeof each['name'] !== 'string' || typeof each['text'] !== 'string') return [];
    return [{ source: { type: 'given', name: each['name'] }, text: each['text'] }];
  });
}

/** The limits of a run as a budget: a run may lower the limits of the user's settings, never raise them. */
function toBudget(requested: Json | undefined, maximum: Partial<Limits> = {}): VerifyBudget {
  const limits = isObject(requested) ? requested : {};
  const least = (key: 'turns' | 'tokens' | 'usd' | 'ms'): number | undefined => {
    const values = [limits[key], maximum[key]].filter((value) => typeof value === 'number');
    return values.length === 0 ? undefined : values.reduce((a, b) => Math.min(a, b));
  };
  const budget = { requests: least('turns'), tokens: least('tokens'), usd: least('usd'), ms: least('ms') };
  return Object.fromEntries(Object.entries(budget).filter(([, value]) => value !== undefined));
}

/** Only a verified answer is the answer of the run; the report has the rest. */
function toResult(report: VerificationReport): TaskResult {
  const { outcome, why, answer, spent } = report;
  return {
    outcome:
      outcome === 'verified'
        ? { reason: 'answered', detail: why, text: answer }
        : { reason: 'abstained', detail: outcome === 'abstained' ? why : `Not verified: ${why}`, text: '' },
    result: { report: JSON.parse(JSON.stringify(report)) as Json },
    spent: {
      turns: spent.requests,
      input: spent.input,
      output: spent.output,
      usd: spent.usd,
      turnsWithoutPrice: spent.requestsWithoutPrice,
      ms: spent.ms,
    },
  };
}
