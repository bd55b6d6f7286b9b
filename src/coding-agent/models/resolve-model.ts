// Resolves a model name from flags, settings, the cached list of models and the last model used, and the default model of queued runs.
import { FairleadError, isObject, closestMatches, formatError } from '../../core/index.ts';
import { findFamily, type ModelRef } from '../../providers/index.ts';
import { readKnownModels, readLastModel, type KnownModel, type ModelEndpoint, refreshModels } from '../state/index.ts';
import type { Settings } from '../settings/index.ts';

/** A model that can be opened. */
export type ResolvedModel = {
  /** The name as the user knows it. */
  readonly name: string;
  readonly ref: Exclude<ModelRef, string>;
  /** Whether it can call tools; absent if unknown. */
  readonly tools?: boolean;
  /** The router that chooses a model for each message, if this is a router and not a model. */
  readonly router?: string;
  /** Whether the router's configuration declares it local. */
  readonly isDeclaredLocal?: boolean;
};

/** Whether a name is that of a router, which chooses a model for each message. */
export const isRouterName = (name: string | undefined): name is 'auto' | `router:${string}` =>
  name === 'auto' || name?.startsWith('router:') === true;

/** The names of the configured routers. */
export function listRouterNames({ routers }: Pick<Settings, 'routers'>): readonly string[] {
  const names = isObject(routers) ? Object.keys(routers) : [];
  const auto = names.length === 1 || names.includes('auto') ? ['auto'] : [];
  return [...auto, ...names.filter((name) => name !== 'auto').map((name) => `router:${name}`)];
}

/** A router as a model. */
export const toRouterModel = (name: string): ResolvedModel => ({
  name,
  ref: { provider: 'router', model: name },
  router: name,
});

/** The provider of the settings, or of the cached list of models; absent if neither is known. */
export function getModelEndpoint(settings: Settings, known: readonly KnownModel[]): ModelEndpoint | undefined {
  const { provider, url } = settings;
  if (provider !== undefined) return { provider, ...(url === undefined ? {} : { baseUrl: url }) };
  const [first] = known;
  return first && { provider: first.provider, ...(first.url ? { baseUrl: first.url } : {}) };
}

/** The provider that is used if none is configured. */
export const defaultEndpoint: ModelEndpoint = { provider: 'ollama' };

/** The provider and its URL for a message. */
export const formatEndpoint = ({ provider, baseUrl }: ModelEndpoint): string =>
  baseUrl === undefined ? provider : `${provider} (${baseUrl})`;

/** Finds a model by name: one of the list, or `provider/model` of another provider. */
export function findModel(
  name: string,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
): ResolvedModel | undefined {
  const listed = known.find(({ id }) => id === name) ?? known.find(({ id, provider }) => `${provider}/${id}` === name);
  if (listed) return toResolvedModel(listed);
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(0, slash));
  if (slash < 0 || !findFamily(provider)) return undefined;
  const isConfigured = endpoint !== undefined && findFamily(provider) === findFamily(endpoint.provider);
  // A name that the list of the configured provider does not contain is an error; without a list every name is accepted.
  if (isConfigured && known.length > 0) return undefined;
  const ref = { ...(isConfigured ? endpoint : { provider }), model: name.slice(slash + 1) };
  // The embedded model can call tools, but the list of tools takes half of its context window and a minute to read.
  return { name, ref, ...(provider === 'embedded' ? { tools: false } : {}) };
}

/** A warning about a model that cannot call tools; absent if it can. */
export const formatNoToolsWarning = ({ name, tools }: ResolvedModel): string | undefined =>
  tools === false ? `${name} cannot call tools, so none are offered to it: it can only talk.` : undefined;

/** Converts a model of the list. */
export function toResolvedModel({ id, provider, url, tools, images, contextWindow }: KnownModel): ResolvedModel {
  return {
    name: id,
    ref: {
      provider,
      model: id,
      ...(url ? { baseUrl: url } : {}),
      // The list of Ollama states the maximum context window; the real one is read when the model is opened.
      ...(contextWindow === undefined || findFamily(provider)?.protocol === 'ollama' ? {} : { contextWindow }),
      ...(typeof images === 'boolean' ? { images } : {}),
    },
    ...(typeof tools === 'boolean' ? { tools } : {}),
  };
}

/** The error for a model that is not in the list. */
export function unknownModelError(
  name: string,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
): FairleadError {
  const near = closestMatches(
    name,
    known.map(({ id }) => id),
  );
  return new FairleadError(
    'coding-agent/unknown-model',
    `${endpoint ? formatEndpoint(endpoint) : 'The list of models'} has no model "${name}".`,
    {
      blame: 'user',
      hint: near.length
        ? `Did you mean ${near.join(' or ')}?`
        : 'fairlead --one-shot --refresh-models reads the list again; fairlead models shows it.',
    },
  );
}

/** Finds the named or the last used model; throws an error that says what to do if there is none. */
export function requireModel(
  name: string | undefined,
  previous: string | undefined,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint,
): ResolvedModel {
  const wanted = name ?? previous;
  const found = wanted === undefined ? undefined : findModel(wanted, known, endpoint);
  if (found && name !== undefined) return found;
  if (known.length === 0)
    throw new FairleadError(
      'coding-agent/no-model-list',
      `It is not known which models ${formatEndpoint(endpoint)} has.`,
      {
        blame: 'user',
        hint: 'Ask it first: fairlead --one-shot --refresh-models',
      },
    );
  if (wanted === undefined)
    throw new FairleadError('coding-agent/no-model', 'No model was named, and none was used before.', {
      blame: 'user',
      hint: `Name one with --model, such as --model ${known[0]?.id}.`,
    });
  if (!found) throw unknownModelError(wanted, known, endpoint);
  return found;
}

/** Resolves a model without a user: the named one, that of the settings, the last used one, or one found on this machine. */
export async function resolveModelUnattended(
  { model }: { readonly model?: string | undefined },
  settings: Settings,
  notify: (text: string) => void,
): Promise<ResolvedModel> {
  const known = readKnownModels(settings) ?? [];
  const endpoint = getModelEndpoint(settings, known);
  const name = model ?? settings.model;
  const previous = readLastModel(settings);
  const first = name ?? previous;
  if (isRouterName(first)) return toRouterModel(first);
  if (endpoint) return requireModel(name, previous, known, endpoint);
  const { discoverModel } = await import('./discover-model.ts');
  const discovered = await discoverModel(settings, name);
  if (name === undefined) notify(`${discovered.message}\n`);
  return discovered.model;
}

/** The model that was named at the start, that of the settings, the last used one, or the first of the list, preferably one that can call tools. */
export function getDefaultModel(settings: Settings, named?: string): string | undefined {
  const name = named ?? settings.model ?? readLastModel(settings);
  if (name !== undefined) return name;
  const known = readKnownModels(settings) ?? [];
  return (known.find(({ tools }) => tools === true) ?? known[0])?.id;
}

/** Reads the list of models if none is cached, and announces the default model. Throws if the named model does not exist. */
export async function announceDefaultModel(
  settings: Settings,
  named: string | undefined,
  notify: (text: string) => void,
): Promise<void> {
  if (settings.provider !== undefined && readKnownModels(settings) === undefined)
    await refreshModels(settings, { onWarning: notify, signal: AbortSignal.timeout(5000) }).catch((error: Error) =>
      notify(formatError(error)),
    );
  if (named !== undefined) await resolveModelUnattended({ model: named }, settings, notify);
  const model = getDefaultModel(settings, named);
  notify(
    model === undefined
      ? 'No model is set: a run that names none looks for one on this machine. --model <name> sets one.'
      : `Runs use the model ${model} unless they name another.`,
  );
}
