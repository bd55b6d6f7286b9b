// The provider loader: opens a provider by model name and loads the code of its protocol on first use. families.ts is the provider table.
import { FairleadError, type Provider } from '../core/index.ts';
import { lookUpKnownModel } from './models/known-models.ts';
import type { PriceBook } from './prices.ts';
import {
  parseModelRef,
  resolveModel,
  unknownProviderError,
  type Environment,
  type ModelRef,
  type ResolvedModelRef,
} from './resolve.ts';

/** Creates a custom provider from a reference. */
export type ProviderFactory = (ref: Exclude<ModelRef, string>) => Provider | Promise<Provider>;

/** Options for opening models. */
export type OpenProviderOptions = {
  /** Environment for keys and addresses; default process.env. */
  readonly env?: Environment;
  /** Custom providers by name; they override the built-in ones. `scripted` and `replay` are added this way. */
  readonly providers?: { readonly [name: string]: ProviderFactory };
  /** Prices that override the built-in ones. */
  readonly prices?: PriceBook;
};

/** Opens a model by name, such as `anthropic/claude-sonnet-4-5` or `ollama/qwen3:8b`. Throws before any request if the name or the key is missing. */
export async function openProvider(ref: ModelRef, options: OpenProviderOptions = {}): Promise<Provider> {
  const { env = process.env, providers = {}, prices = {} } = options;
  const parts = parseModelRef(ref);
  const own = Object.hasOwn(providers, parts.provider) ? providers[parts.provider] : undefined;
  if (own) return own(parts);
  try {
    const resolved = resolveModel(ref, env, prices);
    const provider = withImageSupport(withContextWindow(await loadProvider(resolved), resolved), resolved);
    return usesChatTemplate(resolved) ? (await import('./chat-template.ts')).escapeToolResults(provider) : provider;
  } catch (error) {
    const unknown = error instanceof FairleadError && error.code === 'provider/unknown';
    throw unknown ? unknownProviderError(parts, Object.keys(providers)) : error;
  }
}

/** Adds the configured or known context window, so that the loop compacts in time. */
function withContextWindow(provider: Provider, { family, model, contextWindow }: ResolvedModelRef): Provider {
  if (provider.contextWindow !== undefined || family.protocol === 'embedded') return provider;
  const window = contextWindow ?? (family.local ? undefined : lookUpKnownModel(model).contextWindow);
  return window === undefined ? provider : { ...provider, contextWindow: window };
}

const withImageSupport = (provider: Provider, { images }: ResolvedModelRef): Provider =>
  images === undefined || provider.supportsImages !== undefined ? provider : { ...provider, supportsImages: images };

/** Whether a server of the user's own may apply the chat template of its model to the text of a request: any server that is not the one of the family. The embedded model escapes control tokens itself. */
function usesChatTemplate({ family, baseUrl }: ResolvedModelRef): boolean {
  if (family.protocol === 'embedded') return false;
  return family.local || URL.parse(baseUrl)?.hostname !== URL.parse(family.baseUrl)?.hostname;
}

async function loadProvider({ family, api, ...rest }: ResolvedModelRef): Promise<Provider> {
  const keyVariable = family.keyVariables[0];
  const options = { ...rest, family: family.name, ...(keyVariable === undefined ? {} : { keyVariable }) };
  switch (family.protocol) {
    case 'anthropic':
      return (await import('./ai-sdk/anthropic.ts')).anthropicProvider(options);
    case 'google':
      return (await import('./ai-sdk/google.ts')).googleProvider(options);
    case 'embedded':
      return (await import('./embedded/embedded.ts')).embeddedProvider(options);
    case 'ollama':
      return (await import('./ollama/ollama.ts')).ollamaProvider(options);
    case 'openai':
    case 'chat':
      return api === 'responses'
        ? (await import('./ai-sdk/responses.ts')).responsesProvider(options)
        : (await import('./openai-compatible/chat.ts')).chatProvider(options);
  }
}
