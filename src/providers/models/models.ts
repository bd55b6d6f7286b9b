// What models a provider offers and what each can do: tools, images, reasoning, window, price.
import { FairleadError } from '../../core/index.ts';
import { familyOf, type Family } from '../families.ts';
import { timeoutFault, type Who } from '../wire/faults.ts';
import type { ModelInfo, Source } from './info.ts';
import { listLemonade, listLlamaCpp, listLmStudio, listVllm } from './local.ts';
import { listOllama } from './ollama.ts';
import { listAnthropic, listGoogle, listHuggingFace, listMistral, listOpenRouter, listPlain } from './remote.ts';
import type { PriceBook } from '../prices.ts';
import { addressOf, keyOf, partsOf, unknownProvider, type Environment, type ModelRef } from '../resolve.ts';

/** Where and how long to look for models. */
export type ListOptions = {
  readonly env?: Environment;
  readonly prices?: PriceBook;
  readonly signal?: AbortSignal;
  /** How long the whole listing may take; 20 seconds unless given. */
  readonly timeoutMs?: number;
};

/** A provider to list: by name, or with where and how to reach it. */
export type ListRef = string | { readonly provider: string; readonly baseUrl?: string; readonly apiKey?: string };

/** The models of a provider, each with what it can do; what the provider does not say is unknown. */
export async function listModels(ref: ListRef | ModelRef, options: ListOptions = {}): Promise<readonly ModelInfo[]> {
  const { env = process.env, prices = {}, timeoutMs = 20_000 } = options;
  const { provider, baseUrl: given, apiKey } = typeof ref === 'string' ? partsOf(ref) : ref;
  const family = familyOf(provider);
  if (!family) throw unknownProvider({ provider, model: '' }, []);
  if (family.dialect === 'embedded')
    throw new FairleadError(
      'provider/no-list',
      'The embedded model has no list: there is one, and it is fetched when first used.',
      {
        blame: 'user',
        hint: 'Use it as "embedded".',
      },
    );
  const baseUrl = addressOf(family, given, env);
  const key = keyOf(family, apiKey, env).apiKey;
  const who: Who = { name: family.name, url: baseUrl, ...keyHint(family), ...(key ? { secrets: [key] } : {}) };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(timeoutFault(who, timeoutMs)), timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  try {
    return await list({ family, baseUrl, headers: headersFor(family, key), who, signal, prices });
  } finally {
    clearTimeout(timer);
  }
}

const keyHint = ({ keyVariables: [first] }: Family): { readonly keyVariable?: string } =>
  first === undefined ? {} : { keyVariable: first };

function headersFor(family: Family, key: string | undefined): Readonly<Record<string, string>> {
  if (family.dialect === 'anthropic') return { 'anthropic-version': '2023-06-01', 'x-api-key': key ?? '' };
  if (family.dialect === 'google') return { 'x-goog-api-key': key ?? '' };
  return key ? { authorization: `Bearer ${key}` } : {};
}

function list(source: Source): Promise<readonly ModelInfo[]> {
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
      return listPlain(source);
  }
}
