// Embedding models of providers: any server with OpenAI-like /embeddings, and Ollama's /api/embed.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, isObject } from '../core/index.ts';
import { malformedResponseError, type ProviderInfo } from './http/errors.ts';
import { postJson, redactUrl } from './http/http.ts';
import { resolveModel, type Environment, type ModelRef } from './resolve.ts';

/** A model that converts texts to vectors. */
export type ProviderEmbeddingModel = {
  /** The name as the user knows it, such as `ollama/nomic-embed-text`. */
  readonly name: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
};

const timeoutMs = 120_000;
/** Retries of a request that the server was too busy for, and the delay before the first. */
const maxRetries = 3;
const retryDelayMs = 500;
const maxDelayMs = 30_000;

/** Opens an embedding model by name, such as `openai/text-embedding-3-small`. Throws before any request if the name or the key is missing. */
export function openEmbeddingModel(
  ref: ModelRef,
  { env = process.env }: { readonly env?: Environment } = {},
): ProviderEmbeddingModel {
  const { family, model, baseUrl, apiKey, headers = {} } = resolveModel(ref, env);
  if (!['openai', 'chat', 'ollama'].includes(family.protocol))
    throw new FairleadError(
      'provider/no-embeddings',
      `${family.name} has no embedding models that this program can use.`,
      {
        blame: 'user',
        hint: 'Name one of a server with OpenAI-like embeddings, such as openai/text-embedding-3-small or ollama/nomic-embed-text.',
      },
    );
  const isOllama = family.protocol === 'ollama';
  const url = isOllama ? `${baseUrl}/api/embed` : `${baseUrl}/embeddings`;
  const keyVariable = family.keyVariables[0];
  const providerInfo: ProviderInfo = {
    name: family.name,
    model,
    url: redactUrl(url),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    secrets: [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)],
  };
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    name: `${family.name}/${model}`,
    async embed(texts, signal) {
      const input = texts.map((text) => (text.trim() === '' ? ' ' : text));
      const body = isOllama ? { model, input, truncate: true } : { model, input, encoding_format: 'float' };
      const reply = await withRetries(signal, () =>
        postJson(
          {
            url,
            headers: { ...authorization, ...headers },
            signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
            providerInfo,
          },
          body,
        ),
      );
      const vectors = readVectors(reply, texts.length);
      if (!vectors)
        throw malformedResponseError(
          'something without a vector for each text',
          JSON.stringify(reply).slice(0, 200),
          providerInfo,
        );
      return vectors;
    },
  };
}

async function withRetries<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await work();
    } catch (error) {
      const canRetry =
        error instanceof FairleadError && error.retry && (error.afterMs ?? 0) <= maxDelayMs && !signal.aborted;
      if (!canRetry || retry >= maxRetries) throw error;
      await sleep(error.afterMs ?? retryDelayMs * 2 ** retry, undefined, { signal });
    }
  }
}

/** The vectors of a reply in the order of the texts: `embeddings` of Ollama, or `data` with `index` and `embedding`. */
function readVectors(reply: unknown, count: number): readonly (readonly number[])[] | undefined {
  if (!isObject(reply)) return undefined;
  const vectors: (readonly number[])[] = [];
  const { embeddings, data } = reply;
  if (Array.isArray(embeddings)) vectors.push(...(embeddings as number[][]));
  else if (Array.isArray(data))
    for (const [i, each] of (data as readonly unknown[]).entries())
      if (isObject(each))
        vectors[typeof each['index'] === 'number' ? each['index'] : i] = each['embedding'] as number[];
  const isVector = (each: unknown): boolean =>
    Array.isArray(each) && each.length > 0 && each.every((value) => Number.isFinite(value));
  return vectors.length === count && Array.from(vectors).every(isVector) ? vectors : undefined;
}
