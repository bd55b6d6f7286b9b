// Caches the lists of models, one list per provider, one JSON object per line.
import path from 'node:path';
import { FairleadError, isObject, errorMessage } from '../../core/index.ts';
import type { ModelInfo } from '../../providers/models/index.ts';
import { findFamily, resolveBaseUrl, findApiKey } from '../../providers/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import type { Settings } from '../settings/settings.ts';

/** A model and the URL of its provider. */
export type KnownModel = ModelInfo & { readonly url: string };

/** The provider of a list of models, and its URL if it is not the default. */
export type ModelEndpoint = { readonly provider: string; readonly baseUrl?: string };

type ModelCacheSettings = Pick<Settings, 'dirs' | 'provider' | 'url' | 'env'>;

const modelCachePath = ({ dirs }: ModelCacheSettings): string => path.join(dirs.state, 'models.jsonl');

/** The cached text; absent if it cannot be read, so that the list is requested again. */
function readCachedText(file: string): string | undefined {
  try {
    return unsavedLists.get(file) ?? readTextIfExists(file);
  } catch {
    return undefined;
  }
}

/** Lists that could not be written, by file; they are used until the process ends. */
const unsavedLists = new Map<string, string>();

/** The cached models of the configured provider, or of all listed providers if none is configured; absent if there is no list. */
export function readKnownModels(settings: ModelCacheSettings): readonly KnownModel[] | undefined {
  const { provider } = settings;
  const text = readCachedText(modelCachePath(settings));
  if (text === undefined) return undefined;
  const all = text.split('\n').flatMap(parseKnownModel);
  if (all.length === 0) return all;
  if (provider === undefined) return undefinedIfEmpty(readAllKnownModels(settings));
  const url = endpointUrl({ provider, ...(settings.url === undefined ? {} : { baseUrl: settings.url }) }, settings);
  return undefinedIfEmpty(all.filter((model) => model.provider === provider && model.url === url));
}

/** The cached models of all listed providers, whichever is configured. */
export const readAllKnownModels = (settings: ModelCacheSettings): readonly KnownModel[] =>
  (readCachedText(modelCachePath(settings)) ?? '')
    .split('\n')
    .flatMap(parseKnownModel)
    .filter((model) => isSafeForKeys(model, settings) && isAtCurrentUrl(model, settings));

/** A URL variable that has changed since the list was fetched names another server. */
function isAtCurrentUrl({ provider, url }: KnownModel, settings: ModelCacheSettings): boolean {
  const family = findFamily(provider);
  if (!family) return true;
  if (provider === settings.provider && settings.url !== undefined)
    return url === resolveBaseUrl(family, settings.url, settings.env);
  const isNamed = family.urlVariables.some((name) => settings.env[name]?.trim());
  return !isNamed || url === resolveBaseUrl(family, undefined, settings.env);
}

/** Removes the list of a provider; the next use of its models is a new choice of the user. */
export function forgetModels(settings: ModelCacheSettings, provider: string): void {
  const file = modelCachePath(settings);
  const text = readCachedText(file);
  if (text === undefined) return;
  saveModelCache(file, keptLines(text, provider));
}

/** The lines of a list file that belong to other providers. */
const keptLines = (text: string, provider: string): string =>
  text
    .split('\n')
    .filter((line) => parseKnownModel(line).some((model) => model.provider !== provider))
    .map((line) => `${line}\n`)
    .join('');

const undefinedIfEmpty = (models: readonly KnownModel[]): readonly KnownModel[] | undefined =>
  models.length > 0 ? models : undefined;

/** The cache is only a file: it may name the URL of a server without a key, but never a URL to which a key is sent. */
function isSafeForKeys({ provider, url }: KnownModel, settings: ModelCacheSettings): boolean {
  const family = findFamily(provider);
  if (!family || (family.local && !findApiKey(family, settings.env))) return true;
  return url === resolveBaseUrl(family, undefined, settings.env);
}

function parseKnownModel(line: string): readonly KnownModel[] {
  try {
    const value: unknown = JSON.parse(line);
    const isModel = isObject(value) && ['id', 'provider', 'url'].every((key) => typeof value[key] === 'string');
    return isModel ? [value as KnownModel] : [];
  } catch {
    return [];
  }
}

/** The options of a refresh; `onWarning` is called if the list cannot be saved. */
export type RefreshModelsOptions = {
  readonly endpoint?: ModelEndpoint;
  readonly signal?: AbortSignal;
  readonly onWarning: (text: string) => void;
};

/** Requests the list of models from the provider and saves it beside the lists of other providers; only in memory if the file cannot be written. */
export async function refreshModels(
  settings: ModelCacheSettings,
  options: RefreshModelsOptions,
): Promise<readonly KnownModel[]> {
  const endpoint = options.endpoint ?? requireDeclaredEndpoint(settings);
  const { listModels } = await import('../../providers/models/index.ts');
  const { signal } = options;
  const found = await listModels(endpoint, { env: settings.env, ...(signal ? { signal } : {}) });
  const url = endpointUrl(endpoint, settings);
  const models = found.map((model): KnownModel => ({ ...model, url }));
  const file = modelCachePath(settings);
  const others = keptLines(readCachedText(file) ?? '', findFamily(endpoint.provider)?.name ?? endpoint.provider);
  const warning = saveModelCache(file, models.map((model) => `${JSON.stringify(model)}\n`).join('') + others);
  if (warning !== undefined) options.onWarning(warning);
  return models;
}

/** Saves a list. Returns a warning if that fails: the work continues. */
function saveModelCache(file: string, text: string): string | undefined {
  try {
    writeTextAtomic(file, text);
    unsavedLists.delete(file);
    return undefined;
  } catch (error) {
    unsavedLists.set(file, text);
    return `The next start will not know these models: ${errorMessage(error)}`;
  }
}

function requireDeclaredEndpoint({ provider, url }: ModelCacheSettings): ModelEndpoint {
  if (provider !== undefined) return { provider, ...(url === undefined ? {} : { baseUrl: url }) };
  throw new FairleadError('settings/no-provider', 'No provider is configured whose models could be listed.', {
    blame: 'user',
    hint: 'Set HARNESS_INFERENCE_PROVIDER, for example to ollama, or "fairlead config set provider ollama".',
  });
}

function endpointUrl({ provider, baseUrl }: ModelEndpoint, { env }: ModelCacheSettings): string {
  const family = findFamily(provider);
  return family ? resolveBaseUrl(family, baseUrl, env) : '';
}
