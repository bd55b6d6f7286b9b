// Ollama through its own chat API, which alone lets the context window be set. Messages are serialised once, as for every chat server.
import type { Chunk, Price, Provider, ModelRequest, ModelSettings } from '../../core/index.ts';
import { toolDefinition } from '../openai-compatible/request.ts';
import type { ProviderInfo } from '../http/errors.ts';
import { isSuccess, redactUrl, post, readErrorReply } from '../http/http.ts';
import { encodeOllamaMessage } from './messages.ts';
import { readOllamaStream } from './read-response.ts';
import { ollamaBaseUrl, resolveOllamaContextWindow } from './context-window.ts';
import { createBodyEncoder, withSchemaInstruction, type EncodedBody } from '../http/request-body.ts';
import { createContextGuard, type ContextGuard } from '../http/context-guard.ts';

/** An Ollama model: which one, and where. */
export type OllamaOptions = {
  readonly model: string;
  readonly baseUrl: string;
  /** Only Ollama's hosted service and proxies want one. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyVariable?: string;
  readonly price?: Price;
  /** Whether the model sees pictures; unknown unless given. */
  readonly images?: boolean;
  /** The window wished for; `resolveOllamaContextWindow` says what becomes of it. */
  readonly contextWindow?: number;
  /** How long the model stays in memory after an answer, such as `10m`; -1 for ever. */
  readonly keepAlive?: string | number;
};

type WireObject = { readonly [key: string]: unknown };
type PreparedModel = { readonly encodeBody: (request: ModelRequest) => EncodedBody; readonly guard: ContextGuard };

/** A provider for an Ollama server. */
export function ollamaProvider(options: OllamaOptions): Provider {
  const { model, apiKey, price, contextWindow } = options;
  const root = ollamaBaseUrl(options.baseUrl);
  const headers: Readonly<Record<string, string>> = {
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...options.headers,
  };
  const who: ProviderInfo = {
    name: 'ollama',
    model,
    url: redactUrl(root),
    secrets: apiKey ? [apiKey] : [],
    ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
  };
  let ready: PreparedModel | undefined;

  /** Once it is known the window stays: another one would load the model again and change the head of every request. */
  async function prepare(signal: AbortSignal): Promise<PreparedModel> {
    if (ready) return ready;
    const window = await resolveOllamaContextWindow(root, model, contextWindow, { headers, signal, providerInfo: who });
    ready ??= {
      encodeBody: createBodyEncoder({
        encode: encodeOllamaMessage,
        imageSupport: options.images ?? 'unknown',
        head: (request) => encodeRequestHead(request, options, window),
        tail: () => ']}',
      }),
      guard: createContextGuard(who, window),
    };
    return ready;
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const { encodeBody, guard } = await prepare(signal);
    const { body, chars } = encodeBody(request);
    guard.check(request, chars);
    const reply = await post({
      url: `${root}/api/chat`,
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson', ...headers },
      body,
      signal,
      providerInfo: who,
    });
    if (!isSuccess(reply)) throw await readErrorReply(reply, who);
    for await (const chunk of readOllamaStream(reply.body, who, model)) {
      if (chunk.type === 'end') guard.learn(request, chars, chunk.usage);
      yield chunk;
    }
  }

  return { family: 'ollama', model, ...(price ? { price } : {}), stream };
}

function encodeRequestHead(request: ModelRequest, { model, keepAlive }: OllamaOptions, window: number): string {
  const { outputSchema, settings, toolChoice } = request;
  const tools = toolChoice === 'none' ? [] : request.tools;
  // A grammar for the answer would forbid the calls: with tools the schema is told in words.
  const format = outputSchema && request.tools.length === 0 ? { format: outputSchema } : {};
  const system = outputSchema && request.tools.length > 0 ? withSchemaInstruction(request) : request.system;
  const fields = JSON.stringify({
    model,
    stream: true,
    // Newer versions then refuse what does not fit, and stop at the end of the window instead of forgetting its beginning.
    truncate: false,
    shift: false,
    ...(keepAlive === undefined ? {} : { keep_alive: keepAlive }),
    ...(settings.reasoning === undefined ? {} : { think: thinkField(settings.reasoning, model) }),
    ...format,
    options: optionFields(settings, window),
    ...(tools.length > 0 ? { tools: tools.map(toolDefinition) } : {}),
  });
  const opening = system === '' ? '' : JSON.stringify({ role: 'system', content: system });
  return `${fields.slice(0, -1)},"messages":[${opening}`;
}

/** Only gpt-oss knows degrees of thinking, and cannot do without. */
function thinkField(reasoning: NonNullable<ModelSettings['reasoning']>, model: string): boolean | string {
  if (!model.includes('gpt-oss')) return reasoning !== 'none';
  return reasoning === 'none' ? 'low' : reasoning;
}

function optionFields({ maxOutputTokens, temperature, topP, seed, stop }: ModelSettings, window: number): WireObject {
  return {
    num_ctx: window,
    ...(maxOutputTokens === undefined ? {} : { num_predict: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
  };
}
