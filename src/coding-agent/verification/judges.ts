// Chooses and opens the judges of a verification: the configured models, or one of each other family that the user has.
import { defaultQuorum, getModelFamily, unknownFamily, type VerifyModel } from '../../checks/index.ts';
import { errorMessage, escapeInvisibleLine, FairleadError, type Provider } from '../../core/index.ts';
import { resolveModel } from '../../providers/index.ts';
import { lookUpModel, toResolvedModel, type ResolvedModel } from '../models/resolve-model.ts';
import { openModel, type ModelHost } from '../models/open-model.ts';
import { assertLocalModel, isLocalModel } from '../private-sessions.ts';
import { readAllKnownModels, type KnownModel } from '../state/index.ts';
import { createStrictRedactor, maxJudges, type Settings } from '../settings/index.ts';
import { createVerifyModel } from './verify-model.ts';

const defaultJudges = 3;

/** Models of a list that do not answer questions. */
const otherKinds = /embed|whisper|tts|dall-e|image|audio|moderation|rerank|realtime|transcri|guard|ocr|vision-only/i;

/** The settings of verification. */
export type VerifySettings = {
  readonly judges: readonly string[] | undefined;
  readonly quorum: number;
  readonly samples: number | undefined;
  readonly maxErrorRate: number | undefined;
  /** Whether what other models remember may support claims although there are documents; undefined by default. */
  readonly independent: boolean | undefined;
};

/** Reads the settings `verify.*`. */
export function getVerifySettings({ all }: Pick<Settings, 'all'>): VerifySettings {
  const value = (key: string): unknown => all.get(`verify.${key}`)?.value;
  const number = (key: string): number | undefined => (value(key) === undefined ? undefined : Number(value(key)));
  const judges = value('judges');
  return {
    judges: typeof judges === 'string' ? judges.split(/ +/) : undefined,
    quorum: number('quorum') ?? defaultQuorum,
    samples: number('samples'),
    maxErrorRate: number('maxErrorRate'),
    independent: typeof value('independent') === 'boolean' ? value('independent') === true : undefined,
  };
}

/** What the choice of judges depends on. */
export type JudgeContext = {
  readonly settings: Settings;
  /** The author of the answer; its family does not judge. */
  readonly author?: Pick<ResolvedModel, 'name' | 'ref'>;
  /** The names of the judges; by default those of the settings, else one of each other family that the user has. */
  readonly names?: readonly string[];
  /** Whether a client named the judges: that is not consent to a download. */
  readonly isRequested?: boolean;
  /** Only models on the user's own machines may read the answer. */
  readonly isPrivate?: boolean;
};

/** Returns the models that judge. A named model that does not exist is an error. */
export async function selectJudgeModels(context: JudgeContext): Promise<readonly ResolvedModel[]> {
  const { settings, isPrivate = settings.private } = context;
  const names = context.names ?? getVerifySettings(settings).judges;
  if (names) {
    const isRequested = context.isRequested === true && context.names !== undefined;
    const models = names
      .slice(0, maxJudges)
      .map((name) => withoutConsent(lookUpModel(name, settings) ?? throwUnknown(name), isRequested));
    if (isPrivate) for (const model of models) await assertLocalModel(model, settings);
    return models;
  }
  return findOtherFamilies(context, isPrivate);
}

/** A model as a client names it: it may not be downloaded. */
export const withoutConsent = (model: ResolvedModel, isRequested: boolean): ResolvedModel =>
  isRequested ? { ...model, isNamed: false } : model;

function throwUnknown(name: string): never {
  throw new FairleadError('verify/unknown-judge', `There is no model "${name}" to judge answers.`, {
    blame: 'user',
    hint: '"fairlead models" lists the models; change verify.judges, or name judges with --judges.',
  });
}

/** One model of each family other than the author's, from the lists of the providers that the user has chosen. */
async function findOtherFamilies(
  { settings, author }: JudgeContext,
  isPrivate: boolean,
): Promise<readonly ResolvedModel[]> {
  const known = readAllKnownModels(settings);
  const own = author && familyOf({ id: author.ref.model, provider: author.ref.provider });
  const byFamily = new Map<string, KnownModel>();
  for (const model of known) {
    const family = familyOf(model);
    if (family === own || family === unknownFamily || otherKinds.test(model.id)) continue;
    const chosen = byFamily.get(family);
    // A model that calls tools is rarely the smallest of its family.
    if (!chosen || (chosen.tools !== true && model.tools === true)) byFamily.set(family, model);
  }
  const found: ResolvedModel[] = [];
  for (const model of byFamily.values()) {
    const resolved = toResolvedModel(model, known);
    if (!canOpen(resolved, settings) || (isPrivate && !(await isLocalModel(resolved, settings)))) continue;
    found.push(resolved);
    if (found.length === defaultJudges) break;
  }
  return found;
}

const familyOf = ({ id, provider }: { readonly id: string; readonly provider: string }): string =>
  getModelFamily(id, provider);

/** Whether the key of its provider is there. */
function canOpen({ ref }: ResolvedModel, { env }: Settings): boolean {
  try {
    resolveModel(ref, env);
    return true;
  } catch {
    return false;
  }
}

/** The notices that the user got since the start of the process. */
const announced = new Set<string>();

/** Names the judges that the user did not choose, and where they run, before a text is sent to them; once for each choice. */
function announce(models: readonly ResolvedModel[], { env }: Settings, host: ModelHost): void {
  const names = models.map(({ name, ref }) => `${name} at ${hostOf(ref, env)}`).join(', ');
  const text = `Judges: ${escapeInvisibleLine(names)}. The answer and its evidence are sent to them; verify.judges or --judges names others.`;
  if (announced.has(text)) return;
  announced.add(text);
  host.notify(text);
}

function hostOf(ref: ResolvedModel['ref'], env: Settings['env']): string {
  try {
    return new URL(resolveModel(ref, env).baseUrl).host;
  } catch {
    return ref.provider;
  }
}

/** Opens the judges. One that cannot be opened judges nothing: each of its votes is "none". */
export async function openJudges(
  context: JudgeContext,
  host: ModelHost,
  wrapProvider?: (provider: Provider) => Provider,
): Promise<readonly VerifyModel[]> {
  const models = await selectJudgeModels(context);
  const isDefault = (context.names ?? getVerifySettings(context.settings).judges) === undefined;
  if (isDefault && models.length > 0) announce(models, context.settings, host);
  return Promise.all(models.map((model) => openVerifyModel(model, context.settings, host, wrapProvider)));
}

/** Opens a model as an author or judge. What it reads has no keys of the user. */
export async function openVerifyModel(
  model: ResolvedModel,
  settings: Settings,
  host: ModelHost,
  wrapProvider: (provider: Provider) => Provider = (provider) => provider,
): Promise<VerifyModel> {
  try {
    const provider = wrapProvider(await openModel(model, settings, host));
    const opened = createVerifyModel(model.name, provider, model.ref.provider, { stream: settings.stream });
    const redactor = createStrictRedactor(settings);
    // Documents may contain keys; a quotation with one is not found in its passage, and does not count.
    return {
      ...opened,
      ask: (request, signal) => opened.ask({ ...request, prompt: redactor.redact(request.prompt) }, signal),
    };
  } catch (error) {
    const failure = new FairleadError('verify/no-judge', `${model.name} cannot be opened: ${errorMessage(error)}`, {
      blame: 'provider',
      cause: error,
    });
    const family = getModelFamily(model.ref.model, model.ref.provider);
    return { name: model.name, family, ask: () => Promise.reject(failure) };
  }
}
