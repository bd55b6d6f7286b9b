// Any server that speaks OpenAI's chat completions, streamed. Each message is converted and serialised once in the life of a conversation.
import type { Chunk, Price, Provider, ModelRequest } from '../../core/index.ts';
import { chatCompatFor, type ChatCompat } from './compat.ts';
import { readChatStream } from './read-response.ts';
import { createChatBodyEncoder } from './request.ts';
import type { ChatStreamOptions } from './stream-parser.ts';
import type { ProviderInfo } from '../http/errors.ts';
import { isSuccess, redactUrl, post, readErrorReply } from '../http/http.ts';
import { createContextGuard } from '../http/context-guard.ts';

/** A chat model: which one, where, and how its server differs. */
export type ChatOptions = {
  readonly model: string;
  /** The address up to, and without, `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Decides the quirks and whose metadata is understood; `openai-compatible` unless named. */
  readonly family?: string;
  /** How errors call the provider; its family unless named. */
  readonly name?: string;
  /** The environment variable the key came from, for hints. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly compat?: Partial<ChatCompat>;
  /** Whether the model sees pictures; unknown unless given. */
  readonly images?: boolean;
  /** Tokens the server takes in one request. Given, a request that cannot fit is refused before it is sent. */
  readonly contextWindow?: number;
};

/** A provider for a chat-completions server. */
export function chatProvider(options: ChatOptions): Provider {
  const { model, apiKey, family = 'openai-compatible', price, headers = {} } = options;
  const quirks = chatCompatFor(family, model, { images: options.images ?? 'unknown', ...options.compat });
  const url = `${options.baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const who: ProviderInfo = {
    name: options.name ?? family,
    model,
    url: redactUrl(url),
    ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
    secrets: [...(apiKey ? [apiKey] : []), ...secretHeaderValues(headers)],
  };
  const reader: ChatStreamOptions = { providerInfo: who, family, model, keepReasoning: reasoningToKeep(quirks) };
  const sent: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...headers,
  };
  const bodyOf = createChatBodyEncoder(family, model, quirks);
  const guard = createContextGuard(who, options.contextWindow);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const { body, chars } = bodyOf(request);
    guard.check(request, chars);
    const reply = await post({ url, headers: sent, body, signal, providerInfo: who });
    if (!isSuccess(reply)) throw await readErrorReply(reply, who);
    for await (const chunk of readChatStream(reply.body, reader)) {
      if (chunk.type === 'end') guard.learn(request, chars, chunk.usage);
      yield chunk;
    }
  }

  return { family, model, ...(price ? { price } : {}), stream };
}

/** Header values that must not show up anywhere. */
const secretHeaderValues = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => (/auth|key|token|secret|cookie/i.test(name) ? [value] : []));

function reasoningToKeep({ reasoningField }: ChatCompat): ChatStreamOptions['keepReasoning'] {
  if (reasoningField === 'none') return 'none';
  return reasoningField === 'reasoning_details' ? 'details' : 'text';
}
