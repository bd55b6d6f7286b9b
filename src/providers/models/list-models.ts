// Lists the models of a provider with capabilities: tools, images, reasoning, context window, price.
import { FairleadError, trimEndChars } from '../../core/index.ts';
import { findFamily, type ProviderFamily } from '../families.ts';
import { responseTimeoutError, type ProviderInfo } from '../http/errors.ts';
import { getJson } from '../http/http.ts';
import type { ModelInfo, ListingSource } from './model-info.ts';
import { listLemonade, listLlamaCpp, listLmStudio, listVllm } from './local.ts';
import { listOllama } from './ollama.ts';
import {
  listAnthropic,
  listGoogle,
  listHuggingFace,
  listMistral,
  listOpenRouter,
  listOpenAICompatible,
} from './remote.ts';
import type { PriceBook } from '../prices.ts';
import {
  resolveBaseUrl,
  resolveApiKey,
  parseModelRef,
  unknownProviderError,
  type Environment,
  type ModelRef,
} from '../resolve.ts';

/** Options of a listing. */
export type ListModelsOptions = {
  readonly env?: Environment;
  readonly prices?: PriceBook;
  readonly signal?: AbortSignal;
  /** Timeout of the listing; default 20 s. */
  readonly timeoutMs?: number;
};

/** A provider to list, by name or with address and key. */
export type ProviderRef = string | { readonly provider: string; readonly baseUrl?: string; readonly apiKey?: string };

/** Providers that list their models to everybody; their key is verified with another request. */
const keyChecks: { readonly [provider: string]: (baseUrl: string, env: Environment) => string } = {
  openrouter: (baseUrl) => `${baseUrl}/key`,
  huggingface: (_, env) => `${trimEndChars(env['HF_ENDPOINT']?.trim() || 'https://huggingface.co', '/')}/api/whoami-v2`,
};

/** Verifies with a request that a provider accepts a key, and returns its models; throws the error of the provider if it does not. */
export async function verifyKey(
  ref: { readonly provider: string; readonly apiKey?: string; readonly baseUrl?: string },
  options: ListModelsOptions = {},
): Promise<readonly ModelInfo[]> {
  const { env = process.env, signal, timeoutMs = 20_000 } = options;
  const family = findFamily(ref.provider);
  const check = family && keyChecks[family.name];
  if (family && check) {
    const timeout = AbortSignal.timeout(timeoutMs);
    await getJson({
      url: check(resolveBaseUrl(family, ref.baseUrl, env), env),
      headers: authHeaders(family, ref.apiKey),
      providerInfo: { name: family.name, ...keyHint(family), ...(ref.apiKey ? { secrets: [ref.apiKey] } : {}) },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  }
  return listModels(ref, options);
}

/** Lists the models of a provider; capabilities that it does not report are unknown. */
export async function listModels(
  ref: ProviderRef | ModelRef,
  options: ListModelsOptions = {},
): Promise<readonly ModelInfo[]> {
  const { env = process.env, prices = {}, timeoutMs = 20_000 } = options;
  const { provider, baseUrl: given, apiKey } = typeof ref === 'string' ? parseModelRef(ref) : ref;
  const family = findFamily(provider);
  if (!family) throw unknownProviderError({ provider, model: '' }, []);
  if (family.protocol === 'embedded')
    throw new FairleadError('provider/no-list', 'The embedded provider has no list of models.', {
      blame: 'user',
      hint: 'Use "embedded", or a GGUF model of the Hugging Face hub such as "embedded/hf:Qwen/Qwen3-1.7B-GGUF:Q8_0".',
    });
  const baseUrl = resolveBaseUrl(family, given, env);
  const key = resolveApiKey(family, apiKey, env).apiKey;
  const providerInfo: ProviderInfo = {
    name: family.name,
    url: baseUrl,
    ...keyHint(family),
    ...(key ? { secrets: [key] } : {}),
  };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(responseTimeoutError(providerInfo, timeoutMs)), timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  try {
    return await fetchListing({
      family,
      baseUrl,
      headers: authHeaders(family, key),
      providerInfo,
      signal,
      prices,
    });
  } finally {
    clearTimeout(timer);
  }
}

const keyHint = ({ keyVariables: [first] }: ProviderFamily): { readonly keyVariable?: string } =>
  first === undefined ? {} : { keyVariable: first };

function authHeaders(family: ProviderFamily, key: string | undefined): Readonly<Record<string, string>> {
  if (family.protocol === 'anthropic') return { 'anthropic-version': '2023-06-01', 'x-api-key': key ?? '' };
  if (family.protocol === 'google') return { 'x-goog-api-key': key ?? '' };
  return key ? { authorization: `Bearer ${key}` } : {};
}

function fetchListing(source: ListingSource): Promise<readonly ModelInfo[]> {
  switch (source.family.name) {
    case 'ollama':
      return listOllama(source);
    case 'lm-studio':
      return listLmStudio(source);
    case 'lemonade':
      return listLemonade(source);
    case 'llama.cpp':
      return listLlamaCpp(source);
    case 'vllm':
      return listVllm(source);
    case 'openrouter':
      return listOpenRouter(source);
    case 'google':
      return listGoogle(source);
    case 'anthropic':
      return listAnthropic(source);
    case 'mistral':
      return listMistral(source);
    case 'huggingface':
      return listHuggingFace(source);
    default:
      return listOpenAICompatible(source);
  }
}
