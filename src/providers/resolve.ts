// Resolves a model name to address, key and API. Loads nothing and sends nothing.
import { FairleadError, isObject, closestMatches, trimEndChars, type Price } from '../core/index.ts';
import { providerAliases, families, findFamily, type ProviderFamily } from './families.ts';

import { lookUpKnownModel } from './models/known-models.ts';
import { priceOf, type PriceBook } from './prices.ts';

/** The API of an OpenAI-compatible provider: chat completions or responses. */
export type OpenAIApi = 'chat' | 'responses';

/** A model by name, `provider/model`, or with address and options. */
export type ModelRef =
  | string
  | {
      readonly provider: string;
      readonly model: string;
      readonly baseUrl?: string;
      readonly apiKey?: string;
      readonly api?: OpenAIApi;
      readonly headers?: Readonly<Record<string, string>>;
      readonly price?: Price;
      readonly contextWindow?: number;
      /** Whether it accepts images. */
      readonly images?: boolean;
    };

/** The environment variables of a process, by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** A resolved model reference. */
export type ResolvedModelRef = {
  readonly family: ProviderFamily;
  readonly model: string;
  readonly baseUrl: string;
  readonly api: OpenAIApi;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly contextWindow?: number;
  readonly images?: boolean;
};

/** Splits a reference into its parts. */
export function parseModelRef(ref: ModelRef): Exclude<ModelRef, string> {
  if (typeof ref !== 'string') return assertModelRef(ref);
  const slash = ref.indexOf('/');
  return slash < 0 ? { provider: ref, model: '' } : { provider: ref.slice(0, slash), model: ref.slice(slash + 1) };
}

/** Untyped callers can pass anything. */
function assertModelRef(ref: Exclude<ModelRef, string>): Exclude<ModelRef, string> {
  const { provider, model }: { readonly provider?: unknown; readonly model?: unknown } = isObject(ref) ? ref : {};
  if (typeof provider === 'string' && typeof model === 'string') return ref;
  throw new FairleadError('provider/no-model', 'A model is a name such as "ollama/qwen3:8b", or { provider, model }.', {
    blame: 'user',
  });
}

/** Resolves a model from the reference, then the environment, then the provider table. */
export function resolveModel(ref: ModelRef, env: Environment, prices: PriceBook = {}): ResolvedModelRef {
  const parts = parseModelRef(ref);
  const family = findFamily(parts.provider);
  if (!family) throw unknownProviderError(parts, []);
  if (parts.model === '' && family.protocol !== 'embedded')
    throw new FairleadError('provider/no-model', `Which model of ${family.name}? The reference names none.`, {
      blame: 'user',
      hint: `Name one, such as "${family.name}/${family.exampleModel}".`,
    });
  const model = toProviderModelId(family, parts.model);
  const baseUrl = resolveBaseUrl(family, parts.baseUrl, env);
  const price = parts.price ?? priceOf(family.name, model, prices);
  const images = parts.images ?? lookUpKnownModel(model).images;
  return {
    family,
    model,
    baseUrl,
    api: parts.api ?? selectApi(family, model, baseUrl),
    ...resolveApiKey(family, parts.apiKey, env),
    ...(parts.headers ? { headers: parts.headers } : {}),
    ...(price ? { price } : {}),
    ...(parts.contextWindow === undefined ? {} : { contextWindow: parts.contextWindow }),
    ...(typeof images === 'boolean' ? { images } : {}),
  };
}

/** Anthropic writes versions with hyphens: `claude-opus-4.8`, as other services write it, is `claude-opus-4-8` there. */
const toProviderModelId = ({ name }: ProviderFamily, model: string): string =>
  name === 'anthropic' && /^claude-[a-z]+-\d+\.\d+/.test(model) ? model.replace('.', '-') : model;

/** The default API: responses for OpenAI's reasoning models at OpenAI, chat otherwise. */
function selectApi(family: ProviderFamily, model: string, baseUrl: string): OpenAIApi {
  if (family.protocol !== 'openai' || URL.parse(baseUrl)?.hostname !== 'api.openai.com') return 'chat';
  return /^(gpt-[5-9]|o\d|codex)/.test(model) ? 'responses' : 'chat';
}

/** Returns the first set environment variable. */
export function findApiKey(
  family: ProviderFamily,
  env: Environment,
): { readonly name: string; readonly key: string } | undefined {
  for (const name of family.keyVariables) {
    const key = env[name]?.trim();
    if (key) return { name, key };
  }
  return undefined;
}

/** Returns the API key, given or from the environment; throws if a required key is missing. */
export function resolveApiKey(
  family: ProviderFamily,
  given: string | undefined,
  env: Environment,
): { readonly apiKey?: string } {
  const apiKey = given ?? findApiKey(family, env)?.key;
  if (apiKey) return { apiKey };
  if (family.local) return {};
  const [first = '', ...others] = family.keyVariables;
  throw new FairleadError(
    'provider/no-key',
    `${family.name} needs a key, and ${[first, ...others].join(', ')} ${others.length ? 'are' : 'is'} not set.`,
    { blame: 'user', hint: `Set ${first}, or name a model that runs on this machine, such as "ollama/qwen3:8b".` },
  );
}

/** Returns the address: given, from the environment, or the default. */
export function resolveBaseUrl(family: ProviderFamily, given: string | undefined, env: Environment): string {
  const named = family.urlVariables.find((name) => env[name]?.trim());
  const text = (given ?? (named === undefined ? undefined : env[named]))?.trim() || family.baseUrl;
  if (text === '') return '';
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${withDefaultPort(text, family)}`);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new FairleadError('provider/bad-address', `The address of ${family.name} is not a URL: ${text}`, {
      blame: 'user',
      hint: `Give ${given === undefined && named !== undefined ? named : 'baseUrl'} as http://host:port/path or https://host/path.`,
    });
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  const path = trimEndChars(url.pathname, '/');
  if (family.protocol === 'ollama') return `${url.origin}${path.replace(/\/(v1|api)$/, '')}`;
  return `${url.origin}${path === '' ? family.defaultPath : path}`;
}

/** A host without a port uses the default port. */
function withDefaultPort(text: string, family: ProviderFamily): string {
  const port = URL.parse(family.baseUrl)?.port;
  return /^[^/:]+$/.test(text) && port ? `${text}:${port}` : text;
}

/** The error for an unknown provider, with suggestions. */
export function unknownProviderError(
  { provider, model }: { readonly provider: string; readonly model: string },
  more: readonly string[],
): FairleadError {
  const names = [...families.map(({ name }) => name), ...Object.keys(providerAliases), ...more];
  const near = closestMatches(provider.toLowerCase(), names);
  const guess = guessModelRef(model === '' ? provider : `${provider}/${model}`);
  const suggestion = near.length ? `Did you mean ${near.join(' or ')}?` : guess ? `Did you mean "${guess}"?` : '';
  const known = families.map(({ name }) => name).join(', ');
  const tests = /^(scripted|replay)$/.test(provider)
    ? 'It is for tests: take it from fairlead/testing and hand it in with the option `providers`.'
    : '';
  return new FairleadError('provider/unknown', `There is no provider named "${provider}".`, {
    blame: 'user',
    hint: tests || [suggestion, `Known are ${known}.`].filter(Boolean).join(' '),
  });
}

/** Guesses the provider of a bare model name. */
export function guessModelRef(name: string): string | undefined {
  const families: readonly (readonly [RegExp, string])[] = [
    [/^claude/i, 'anthropic'],
    [/^(gpt-\d|o\d|chatgpt|codex)/i, 'openai'],
    [/^gemini/i, 'google'],
    [/^[^/]+\/[^/]+$/, 'huggingface'],
    [/:/, 'ollama'],
  ];
  const found = families.find(([pattern]) => pattern.test(name));
  return found && `${found[1]}/${name}`;
}
