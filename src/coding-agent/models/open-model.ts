// Opens a model behind the gateway; the embedded model asks the user before it downloads anything.
import { testProviders } from '../../agent/index.ts';
import type { Provider } from '../../core/index.ts';
import { findFamily, gateway, openProvider, type GatewayOptions, resolveBaseUrl } from '../../providers/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** Asks and informs the user while a model is prepared. */
export type ModelHost = {
  confirm(question: string): Promise<boolean>;
  /** Shows progress; each text replaces the one before. */
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
