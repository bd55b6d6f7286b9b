// The list of models that the provider offered last, kept so that later starts need not ask: one JSON object a line.
import path from 'node:path';
import { FairleadError, isObject, errorMessage } from '../../core/index.ts';
import type { ModelInfo } from '../../providers/models/info.ts';
import { familyOf } from '../../providers/families.ts';
import { addressOf, keyFound } from '../../providers/resolve.ts';
import { readIfThere, replaceText } from '../settings/private-file.ts';
import type { Settings } from '../settings/settings.ts';

/** A model and the address it was offered at. */
export type KnownModel = ModelInfo & { readonly url: string };

/** Where a list comes from: the declared provider unless another is named. */
export type Whence = { readonly provider: string; readonly baseUrl?: string };

type Needed = Pick<Settings, 'dirs' | 'provider' | 'url' | 'env'>;

const modelsFile = ({ dirs }: Needed): string => path.join(dirs.state, 'models.jsonl');

/** What was kept; nothing if it cannot be read: then the provider is asked again. */
function kept(file: string): string | undefined {
  try {
    return unwritten.get(file) ?? readIfThere(file);
  } catch {
    return undefined;
  }
}

/** Lists that no file would take, by the file: they count for as long as this process lives. */
const unwritten = new Map<string, string>();

/** The known models of the declared provider, or of whichever was listed last where none is declared; nothing if no list is known. */
export function readKnownModels(settings: Needed): readonly KnownModel[] | undefined {
  const text = kept(modelsFile(settings));
  if (text === undefined) return undefined;
  const all = text.split('\n').flatMap(modelIn);
  if (all.length === 0) return all;
  const { provider } = settings;
  if (provider === undefined) return someOf(all.filter((model) => getsNoKeyOfOthers(model, settings)));
  const url = addressFor({ provider, ...(settings.url === undefined ? {} : { baseUrl: settings.url }) }, settings);
  return someOf(all.filter((model) => model.provider === provider && model.url === url));
}

const someOf = (models: readonly KnownModel[]): readonly KnownModel[] | undefined =>
  models.length > 0 ? models : undefined;

/** A list is only a file: it may say where a server without a key is, and never where a key is sent. */
function getsNoKeyOfOthers({ provider, url }: KnownModel, settings: Needed): boolean {
  const family = familyOf(provider);
  if (!family || (family.local && !keyFound(family, settings.env))) return true;
  return url === addressOf(family, undefined, settings.env);
}

function modelIn(line: string): readonly KnownModel[] {
  try {
    const value: unknown = JSON.parse(line);
    const told = isObject(value) && ['id', 'provider', 'url'].every((key) => typeof value[key] === 'string');
    return told ? [value as KnownModel] : [];
  } catch {
    return [];
  }
}

/** How a list is asked for; `say` hears, in a sentence, that it could not be kept. */
export type Refreshing = {
  readonly from?: Whence;
  readonly signal?: AbortSignal;
  readonly say: (trouble: string) => void;
};

/** Asks the provider which models it has and what each can do, and keeps the list: in memory alone where its file cannot be written. */
export async function refreshModels(settings: Needed, options: Refreshing): Promise<readonly KnownModel[]> {
  const from = options.from ?? declared(settings);
  const { listModels } = await import('../../providers/models/models.ts');
  const { signal } = options;
  const found = await listModels(from, { env: settings.env, ...(signal ? { signal } : {}) });
  const url = addressFor(from, settings);
  const models = found.map((model): KnownModel => ({ ...model, url }));
  const trouble = keep(modelsFile(settings), models.map((model) => `${JSON.stringify(model)}\n`).join(''));
  if (trouble !== undefined) options.say(trouble);
  return models;
}

/** Why a list could not be written is a sentence: nobody's work hangs on it. */
function keep(file: string, text: string): string | undefined {
  try {
    replaceText(file, text);
    unwritten.delete(file);
    return undefined;
  } catch (error) {
    unwritten.set(file, text);
    return `The next start will not know these models: ${errorMessage(error)}`;
  }
}

function declared({ provider, url }: Needed): Whence {
  if (provider !== undefined) return { provider, ...(url === undefined ? {} : { baseUrl: url }) };
  throw new FairleadError('settings/no-provider', 'No provider is declared whose models could be listed.', {
    blame: 'user',
    hint: 'Set HARNESS_INFERENCE_PROVIDER, for example to ollama, or "fairlead config set provider ollama".',
  });
}

function addressFor({ provider, baseUrl }: Whence, { env }: Needed): string {
  const family = familyOf(provider);
  return family ? addressOf(family, baseUrl, env) : '';
}
