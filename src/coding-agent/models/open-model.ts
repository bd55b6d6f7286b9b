// Opens the chosen model with the gateway around it; the embedded one asks before it fetches anything.
import { testProviders } from '../../agent/test-providers.ts';
import type { Provider } from '../../core/index.ts';
import { findFamily, gateway, openProvider, type GatewayOptions } from '../../providers/index.ts';
import { resolveBaseUrl } from '../../providers/resolve.ts';
import type { SessionRouter } from '../routing/session-router.ts';
import type { Settings } from '../settings/index.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** Who is asked and told while a model is made ready. */
export type ModelHost = {
  confirm(question: string): Promise<boolean>;
  /** Says how far something is; each sentence takes the place of the one before. */
  progress(text: string): void;
  notify(text: string): void;
};

/** Opens a model. */
export async function openModel(
  { ref }: ResolvedModel,
  { env }: Settings,
  host: ModelHost,
  options: GatewayOptions = {},
): Promise<Provider> {
  const embedded = async ({ model }: { readonly model: string }): Promise<Provider> => {
    const { openEmbeddedModel } = await import('./open-embedded.ts');
    return openEmbeddedModel(model, host);
  };
  const window = await findEffectiveWindow(ref, env);
  const known = window === undefined ? ref : { ...ref, contextWindow: window };
  return gateway([await openProvider(known, { env, providers: { ...testProviders, embedded } })], options);
}

/** Opens a model, or the router that will open one for each message. */
export async function openModelOrRouter(
  chosen: ResolvedModel,
  settings: Settings,
  host: ModelHost,
): Promise<Provider | SessionRouter> {
  if (chosen.router === undefined) return openModel(chosen, settings, host);
  const { createSessionRouter } = await import('../routing/session-router.ts');
  return createSessionRouter(chosen.router, settings, host);
}

/** How long a server may take to say how much a model of its holds; without an answer it is found with the first request. */
const windowTimeoutMs = 3000;

/** The window that Ollama will really be asked for, so that a long conversation is compacted in time; of other providers the list says it. */
async function findEffectiveWindow(ref: ResolvedModel['ref'], env: Settings['env']): Promise<number | undefined> {
  const family = findFamily(ref.provider);
  if (family?.protocol !== 'ollama' || ref.contextWindow !== undefined) return undefined;
  const { resolveOllamaContextWindow } = await import('../../providers/ollama/context-window.ts');
  const signal = AbortSignal.timeout(windowTimeoutMs);
  return resolveOllamaContextWindow(resolveBaseUrl(family, ref.baseUrl, env), ref.model, undefined, { signal }).catch(
    () => undefined,
  );
}
