// Resolves a model name from flags, settings, the cached list of models and the last model used, and the default model of queued runs.
import { isObject, getModelOrigin, type ModelOrigin } from '../../core/index.ts';
import { findFamily, resolveBaseUrl, type ModelRef } from '../../providers/index.ts';
import {
  readAllKnownModels,
  readKnownModels,
  readLastModel,
  type KnownModel,
  type ModelEndpoint,
} from '../state/index.ts';
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
  /** Whether the user named or chose it in this start; naming the embedded model is consent to its download. */
  readonly isNamed?: boolean;
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

/** The host that the requests of a model go to; undefined if it runs in this process. */
export function getModelHost({ provider, baseUrl }: ResolvedModel['ref'], env: Settings['env']): string | undefined {
  const family = findFamily(provider);
  return family && (URL.parse(resolveBaseUrl(family, baseUrl, env))?.hostname || undefined);
}

/** Where a model was opened, and its name there if the opened model has another one, such as a file of the hub. */
export const toModelOrigin = (ref: ResolvedModel['ref'], opened: string, env: Settings['env']): ModelOrigin =>
  getModelOrigin({
    modelProvider: ref.provider,
    modelHost: getModelHost(ref, env),
    modelName: ref.model === opened ? undefined : ref.model,
  });

/** Finds a model by name: one of the lists, or `provider/model` of another provider. */
export function findModel(
  name: string,
  known: readonly KnownModel[],
  endpoint: ModelEndpoint | undefined,
): ResolvedModel | undefined {
  const sameProvider = (provider: string): boolean =>
    endpoint !== undefined && findFamily(provider) === findFamily(endpoint.provider);
  const named = known.filter(({ id }) => id === name);
  const slash = name.indexOf('/');
  const family = slash < 0 ? undefined : findFamily(name.slice(0, slash));
  const rest = name.slice(slash + 1);
  const listed =
    named.find(({ provider }) => sameProvider(provider)) ??
    named[0] ??
    known.find(({ id, provider }) => id === rest && family !== undefined && findFamily(provider) === family);
  if (listed) return toResolvedModel(listed, known);
  if (!family || rest === '') return undefined;
  const isConfigured = sameProvider(family.name);
  // A name that the list of a server or of the configured provider does not contain is an error; a company may have newer models than its saved list.
  const hasList = known.some(({ provider }) => findFamily(provider) === family);
  if (hasList && (isConfigured || family.local)) return undefined;
  return { name, ref: { provider: family.name, ...(isConfigured ? endpoint : {}), model: rest } };
}

/** Replaces a short name of the settings by the model that it stands for. */
export const expandModelName = (name: string, { modelNames }: Pick<Settings, 'modelNames'>): string =>
  (Object.hasOwn(modelNames, name) ? modelNames[name] : undefined) ?? name;

/** Finds a model by a name of the user: a short name, one of the lists, the embedded model, or `provider/model`. */
export function lookUpModel(name: string, settings: Settings): ResolvedModel | undefined {
  const full = expandModelName(name, settings);
  const known = readKnownModels(settings) ?? [];
  const endpoint = getModelEndpoint(settings, known);
  return (
    resolveEmbeddedName(full) ??
    findModel(full, known, endpoint) ??
    // With a configured provider, lists of other providers that the user chose before count too.
    findModel(full, readAllKnownModels(settings), endpoint)
  );
}

/** The embedded model: its name alone, `embedded/<model>`, or the address of a model on the Hugging Face hub (`hf:<owner>/<repo>:<quant>`). */
export function resolveEmbeddedName(name: string): ResolvedModel | undefined {
  if (/^(hf|huggingface):/.test(name)) return { name: `embedded/${name}`, ref: { provider: 'embedded', model: name } };
  const [provider = '', ...rest] = name.split('/');
  if (findFamily(provider)?.protocol !== 'embedded') return undefined;
  const model = rest.join('/') || 'tinyllama';
  return { name: `embedded/${model}`, ref: { provider: 'embedded', model } };
}

/** A warning about a model that cannot call tools; absent if it can. */
export const formatNoToolsWarning = ({ name, tools }: ResolvedModel): string | undefined =>
  tools === false ? `${name} cannot call tools, so none are offered to it: it can only talk.` : undefined;

/** Converts a model of the list. Its name is that of the list; with the provider if two providers of `known` have one with this name. */
export function toResolvedModel(
  { id, provider, url, tools, images, contextWindow }: KnownModel,
  known: readonly KnownModel[] = [],
): ResolvedModel {
  const isAmbiguous = known.some((other) => other.id === id && other.provider !== provider);
  return {
    name: isAmbiguous ? `${provider}/${id}` : id,
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

/** The model that was named at the start, that of the settings, the last used one, or the first of the list, preferably one that can call tools. */
export function getDefaultModel(settings: Settings, named?: string): string | undefined {
  const name = named ?? settings.model ?? readLastModel(settings);
  if (name !== undefined) return name;
  // A list alone does not choose a company: without a configured provider only servers of the user count.
  const known = (readKnownModels(settings) ?? []).filter(
    ({ provider }) => settings.provider !== undefined || findFamily(provider)?.local === true,
  );
  return (known.find(({ tools }) => tools === true) ?? known[0])?.id;
}
