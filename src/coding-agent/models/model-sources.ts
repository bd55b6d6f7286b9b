// Finds the models that can be used now: servers on this machine, configured addresses, keys, the embedded model; and states where the user's text would go.
import { errorMessage, isLoopbackUrl } from '../../core/index.ts';
import {
  discover,
  findFamily,
  resolveBaseUrl,
  type DiscoveredProvider,
  type Environment,
} from '../../providers/index.ts';
import {
  readAllKnownModels,
  readKnownModels,
  refreshModels,
  type KnownModel,
  type ModelEndpoint,
} from '../state/index.ts';
import type { Settings } from '../settings/index.ts';

/** A provider that can be used now. */
export type ModelSource = {
  readonly provider: string;
  /** How it is known: the provider of the settings, or one that was found. */
  readonly how: 'configured' | DiscoveredProvider['how'];
  /** Why it can be used. */
  readonly reason: string;
  readonly endpoint: ModelEndpoint;
  /** Where the user's text goes. */
  readonly destination: string;
  /** Its models; absent if it was not asked for them: a key is not used, and a remote server not contacted, before the user chose it. */
  readonly models?: readonly KnownModel[];
  /** Why a server that answers has no list. */
  readonly problem?: string;
};

/** The options of the search. */
export type FindSourcesOptions = {
  /** Called with a sentence about the search so far. */
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal;
};

/** The time for a server on this machine to list its models. */
const listTimeoutMs = 10_000;

/** Finds providers: servers on this machine first, with their models. Sends nothing beyond this machine. */
export async function findModelSources(
  settings: Settings,
  { onProgress, signal }: FindSourcesOptions = {},
): Promise<readonly ModelSource[]> {
  const names: string[] = [];
  const lists = new Map<DiscoveredProvider, Promise<Pick<ModelSource, 'models' | 'problem'>>>();
  const showProgress = (): void =>
    onProgress?.(`Looking for model servers on this machine …${names.length > 0 ? ` Found ${names.join(', ')}.` : ''}`);
  showProgress();
  const discovered = await discover({
    env: settings.env,
    ...(signal ? { signal } : {}),
    onFound(found) {
      names.push(found.provider);
      showProgress();
      lists.set(found, listLocalModels(settings, toEndpoint(found), signal));
    },
  });
  const configured = findConfiguredSource(settings);
  const configuredUrl = configured?.endpoint.baseUrl;
  const others = discovered.filter(
    (each) =>
      each.provider !== configured?.provider &&
      !('baseUrl' in each && configuredUrl !== undefined && isSameHost(each.baseUrl, configuredUrl)),
  );
  const found = others.map(async (each): Promise<ModelSource> => {
    const { provider, how } = each;
    const endpoint = toEndpoint(each);
    const listed = how === 'server' ? await lists.get(each) : readCachedList(settings, provider);
    const destination = formatDestination(endpoint, settings.env);
    return { provider, how, reason: formatFoundReason(each), endpoint, destination, ...listed };
  });
  return [...(configured ? [configured] : []), ...(await Promise.all(found))];
}

/** One server can answer in the formats of several providers. */
const isSameHost = (a: string, b: string): boolean => URL.parse(a)?.host === URL.parse(b)?.host;

/** The provider of the settings. It is not contacted: its list is the saved one. */
function findConfiguredSource(settings: Settings): ModelSource | undefined {
  const { provider, url } = settings;
  if (provider === undefined) return undefined;
  const endpoint = { provider, ...(url === undefined ? {} : { baseUrl: url }) };
  const models = readKnownModels(settings);
  return {
    provider,
    how: 'configured',
    reason: 'configured',
    endpoint,
    destination: formatDestination(endpoint, settings.env),
    ...(models ? { models } : {}),
  };
}

const toEndpoint = (found: DiscoveredProvider): ModelEndpoint => ({
  provider: found.provider,
  ...(found.how === 'server' || found.how === 'address' ? { baseUrl: found.baseUrl } : {}),
});

/** The list that was saved when the user chose this provider before. */
function readCachedList(settings: Settings, provider: string): Pick<ModelSource, 'models'> {
  const models = readAllKnownModels(settings).filter((model) => model.provider === provider);
  return models.length > 0 ? { models } : {};
}

async function listLocalModels(
  settings: Settings,
  endpoint: ModelEndpoint,
  signal: AbortSignal | undefined,
): Promise<Pick<ModelSource, 'models' | 'problem'>> {
  const timeout = AbortSignal.timeout(listTimeoutMs);
  try {
    const stop = signal ? AbortSignal.any([signal, timeout]) : timeout;
    return { models: await refreshModels(settings, { endpoint, signal: stop, onWarning: () => {} }) };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/** States where the text that a user sends to a model goes: this machine, or the company or server and its host. */
export function formatDestination(
  { provider, baseUrl, model = '' }: ModelEndpoint & { readonly model?: string },
  env: Environment,
): string {
  const family = findFamily(provider);
  if (!family || family.protocol === 'embedded') return 'this machine';
  const url = resolveBaseUrl(family, baseUrl, env);
  const host = URL.parse(url)?.host ?? url;
  if (family.vendor !== undefined) return `${family.vendor} (${host})`;
  if (!isLoopbackUrl(url)) return `the server ${host}`;
  // Ollama forwards models with such names to its service.
  if (family.protocol === 'ollama' && model.endsWith('cloud')) return 'Ollama (ollama.com)';
  return family.free ? 'this machine' : `this machine (${host}; a proxy may forward it)`;
}

/** States why a provider can be used. */
export function formatFoundReason(found: DiscoveredProvider): string {
  switch (found.how) {
    case 'key':
      return `${found.variable} is set`;
    case 'server':
      return `a server answers at ${found.baseUrl}`;
    case 'address':
      return `${found.variable} is ${found.baseUrl} (not contacted)`;
    case 'embedded':
      return 'a small model that runs in the program, downloaded when you name it (TinyLlama 1.1B, 373 MB; hf:<owner>/<repo> for another)';
  }
}
