// Provider for servers with OpenAI-compatible chat completions; each message is encoded once per conversation.
import { trimEndChars, type Chunk, type Price, type Provider, type ModelRequest } from '../../core/index.ts';
import { chatCompatFor, type ChatCompat } from './compat.ts';
import { createChatBodyEncoder } from './request.ts';
import { readChatStream, type ChatStreamOptions } from './response.ts';
import type { ProviderInfo } from '../http/errors.ts';
import { isSuccess, redactUrl, post, readErrorReply } from '../http/http.ts';
import { createContextGuard } from '../http/context-guard.ts';

/** Options of a chat model. */
export type ChatOptions = {
  readonly model: string;
  /** The address without `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Selects the compatibility settings and the metadata that is sent back; default `openai-compatible`. */
  readonly family?: string;
  /** The provider's name in errors; default its family. */
  readonly name?: string;
  /** The environment variable of the key, for hints. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly compat?: Partial<ChatCompat>;
  /** Whether the model accepts images; default unknown. */
  readonly images?: boolean;
  /** Max tokens of a request. If set, a longer request is rejected before it is sent. */
  readonly contextWindow?: number;
};

/** Creates a provider for a chat completions server. */
export function chatProvider(options: ChatOptions): Provider {
  const { model, apiKey, family = 'openai-compatible', price, headers = {} } = options;
  const compat = chatCompatFor(family, model, { images: options.images ?? 'unknown', ...options.compat });
  const url = `${trimEndChars(options.baseUrl, '/')}/chat/completions`;
  const providerInfo: ProviderInfo = {
    name: options.name ?? family,
    model,
    url: redactUrl(url),
    ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
    secrets: [...(apiKey ? [apiKey] : []), ...secretHeaderValues(headers)],
  };
  const streamOptions: ChatStreamOptions = { providerInfo, family, model, keepReasoning: reasoningToKeep(compat) };
  const requestHeaders: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...headers,
  };
  const encodeBody = createChatBodyEncoder(family, model, compat);
  const guard = createContextGuard(providerInfo, options.contextWindow);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const { body, chars } = encodeBody(request);
    guard.check(request, chars);
    const reply = await post({ url, headers: { ...requestHeaders, ...request.trace }, body, signal, providerInfo });
    if (!isSuccess(reply)) throw await readErrorReply(reply, providerInfo);
    for await (const chunk of readChatStream(reply.body, streamOptions)) {
      if (chunk.type === 'end') guard.learn(request, chars, chunk.usage);
      yield chunk;
    }
  }

  return { family, model, ...(price ? { price } : {}), stream };
}

/** Returns header values that must not appear in errors. */
const secretHeaderValues = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => (/auth|key|token|secret|cookie/i.test(name) ? [value] : []));

function reasoningToKeep({ reasoningField }: ChatCompat): ChatStreamOptions['keepReasoning'] {
  if (reasoningField === 'none') return 'none';
  return reasoningField === 'reasoning_details' ? 'details' : 'text';
}
