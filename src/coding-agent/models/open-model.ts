// Opens a model behind the gateway, and tests the connection to a provider. The embedded model asks the user before it downloads anything.
import { testProviders } from '../../agent/index.ts';
import type { Provider } from '../../core/index.ts';
import {
  findFamily,
  gateway,
  openProvider,
  readRateLimits,
  type GatewayOptions,
  resolveBaseUrl,
  listModels,
} from '../../providers/index.ts';
import { withDlp } from '../dlp/with-dlp.ts';
import type { Settings } from '../settings/index.ts';
import type { ModelEndpoint } from '../state/index.ts';
import { type ResolvedModel, formatEndpoint } from './resolve-model.ts';

/** Asks and informs the user while a model is prepared. */
export type ModelHost = {
  confirm(question: string): Promise<boolean>;
  /** Shows progress; each text replaces the one before, and an empty text removes it. */
  progress(text: string): void;
  notify(text: string): void;
  /** Ends a download. */
  readonly signal?: AbortSignal;
};

/** Opens a model. */
export async function openModel(
  model: ResolvedModel,
  settings: Settings,
  host: ModelHost,
  options: GatewayOptions = {},
): Promise<Provider> {
  const { ref, isNamed } = model;
  const { env } = settings;
  const embedded = async ({ model: name }: { readonly model: string }): Promise<Provider> => {
    const { openEmbeddedModel } = await import('./open-embedded.ts');
    return openEmbeddedModel(name, host, { consented: isNamed === true });
  };
  const window = await findEffectiveWindow(ref, env);
  const known = window === undefined ? ref : { ...ref, contextWindow: window };
  const isEmbedded = findFamily(ref.provider)?.protocol === 'embedded';
  const opened = gateway([await openProvider(known, { env, providers: { ...testProviders, embedded } })], {
    ...(await getRateLimits(settings)),
    ...options,
    ...(isEmbedded ? { timeouts: { firstMs: embeddedFirstMs, ...options.timeouts } } : {}),
  });
  return withDlp(opened, model, settings, host);
}

/** The rate limits of the user's config file, for the tenant of the settings. */
async function getRateLimits({ rateLimits, tenant, userFile }: Settings): Promise<GatewayOptions> {
  if (rateLimits === undefined) return {};
  const rules = await readRateLimits(rateLimits, `rateLimits in ${userFile}`);
  return { rateLimits: rules, ...(tenant === undefined ? {} : { tenant }) };
}

/** The time for an embedded model to read a long prompt before its first word. */
const embeddedFirstMs = 1_200_000;

/** The timeout for reading the context window; without an answer the window is learned from the first request. */
const windowTimeoutMs = 3000;

/** The context window that Ollama will use, so that a long conversation is compacted in time; other providers state it in their list of models. */
async function findEffectiveWindow(ref: ResolvedModel['ref'], env: Settings['env']): Promise<number | undefined> {
  const family = findFamily(ref.provider);
  if (family?.protocol !== 'ollama' || ref.contextWindow !== undefined) return undefined;
  const { resolveOllamaContextWindow } = await import('../../providers/ollama/index.ts');
  const signal = AbortSignal.timeout(windowTimeoutMs);
  return resolveOllamaContextWindow(resolveBaseUrl(family, ref.baseUrl, env), ref.model, undefined, { signal }).catch(
    () => undefined,
  );
}

/** Returns a sentence that the provider answers; throws the error if it does not. */
export async function testConnection(
  settings: Settings,
  endpoint: ModelEndpoint,
  signal?: AbortSignal,
): Promise<string> {
  const start = performance.now();
  const models = await listModels(endpoint, { env: settings.env, ...(signal ? { signal } : {}) });
  const ms = Math.round(performance.now() - start);
  return `${formatEndpoint(endpoint)} answers (${ms} ms) and has ${models.length} model${models.length === 1 ? '' : 's'}.`;
}
