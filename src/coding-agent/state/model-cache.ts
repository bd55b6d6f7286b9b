// The list of models that the provider offered last, kept so that later starts need not ask: one JSON object a line.
import path from 'node:path';
import { FairleadError, isObject, errorMessage } from '../../core/index.ts';
import type { ModelInfo } from '../../providers/models/model-info.ts';
import { findFamily } from '../../providers/families.ts';
import { resolveBaseUrl, findApiKey } from '../../providers/resolve.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/private-file.ts';
import type { Settings } from '../settings/settings.ts';

/** A model and the address it was offered at. */
export type KnownModel = ModelInfo & { readonly url: string };

/** Where a list comes from: the declared provider unless another is named. */
export type ModelEndpoint = { readonly provider: string; readonly baseUrl?: string };

type ModelCacheSettings = Pick<Settings, 'dirs' | 'provider' | 'url' | 'env'>;

const modelCachePath = ({ dirs }: ModelCacheSettings): string => path.join(dirs.state, 'models.jsonl');

/** What was kept; nothing if it cannot be read: then the provider is asked again. */
function readCachedText(file: string): string | undefined {
  try {
    return unsavedLists.get(file) ?? readTextIfExists(file);
  } catch {
    return undefined;
  }
}

/** Lists that no file would take, by the file: they count for as long as this process lives. */
const unsavedLists = new Map<string, string>();

/** The known models of the declared provider, or of whichever was listed last where none is declared; nothing if no list is known. */
export function readKnownModels(settings: ModelCacheSettings): readonly KnownModel[] | undefined {
  const text = readCachedText(modelCachePath(settings));
  if (text === undefined) return undefined;
  const all = text.split('\n').flatMap(parseKnownModel);
  if (all.length === 0) return all;
  const { provider } = settings;
  if (provider === undefined) return undefinedIfEmpty(all.filter((model) => isSafeForKeys(model, settings)));
  const url = endpointUrl({ provider, ...(settings.url === undefined ? {} : { baseUrl: settings.url }) }, settings);
  return undefinedIfEmpty(all.filter((model) => model.provider === provider && model.url === url));
}

const undefinedIfEmpty = (models: readonly KnownModel[]): readonly KnownModel[] | undefined =>
  models.length > 0 ? models : undefined;

/** A list is only a file: it may say where a server without a key is, and never where a key is sent. */
function isSafeForKeys({ provider, url }: KnownModel, settings: ModelCacheSettings): boolean {
  const family = findFamily(provider);
  if (!family || (family.local && !findApiKey(family, settings.env))) return true;
  return url === resolveBaseUrl(family, undefined, settings.env);
}

function parseKnownModel(line: string): readonly KnownModel[] {
  try {
    const value: unknown = JSON.parse(line);
    const told = isObject(value) && ['id', 'provider', 'url'].every((key) => typeof value[key] === 'string');
    return told ? [value as KnownModel] : [];
  } catch {
    return [];
  }
}

/** How a list is asked for; `say` hears, in a sentence, that it could not be kept. */
export type RefreshModelsOptions = {
  readonly endpoint?: ModelEndpoint;
  readonly signal?: AbortSignal;
  readonly onWarning: (trouble: string) => void;
};

/** Asks the provider which models it has and what each can do, and keeps the list: in memory alone where its file cannot be written. */
export async function refreshModels(
  settings: ModelCacheSettings,
  options: RefreshModelsOptions,
): Promise<readonly KnownModel[]> {
  const from = options.endpoint ?? requireDeclaredEndpoint(settings);
  const { listModels } = await import('../../providers/models/list-models.ts');
  const { signal } = options;
  const found = await listModels(from, { env: settings.env, ...(signal ? { signal } : {}) });
  const url = endpointUrl(from, settings);
  const models = found.map((model): KnownModel => ({ ...model, url }));
  const trouble = saveModelCache(
    modelCachePath(settings),
    models.map((model) => `${JSON.stringify(model)}\n`).join(''),
  );
  if (trouble !== undefined) options.onWarning(trouble);
  return models;
}

/** Why a list could not be written is a sentence: nobody's work hangs on it. */
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
  throw new FairleadError('settings/no-provider', 'No provider is declared whose models could be listed.', {
    blame: 'user',
    hint: 'Set HARNESS_INFERENCE_PROVIDER, for example to ollama, or "fairlead config set provider ollama".',
  });
}

function endpointUrl({ provider, baseUrl }: ModelEndpoint, { env }: ModelCacheSettings): string {
  const family = findFamily(provider);
  return family ? resolveBaseUrl(family, baseUrl, env) : '';
}
