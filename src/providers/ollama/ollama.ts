// Ollama through its own chat API, which alone lets the context window be set. Messages are serialised once, as for every chat server.
import type { Chunk, Price, Provider, ModelRequest, ModelSettings } from '../../core/index.ts';
import { toolField } from '../chat/request.ts';
import type { Who } from '../wire/faults.ts';
import { isSuccess, placeOf, post, refusal } from '../wire/http.ts';
import { ollamaMessage } from './messages.ts';
import { readOllama } from './reply.ts';
import { ollamaRoot, ollamaWindow } from './window.ts';
import { bodyMaker, withSchemaRule, type PrefixBody } from '../wire/prefix-body.ts';
import { windowGuard, type WindowGuard } from '../wire/window.ts';

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
  /** The window wished for; `ollamaWindow` says what becomes of it. */
  readonly contextWindow?: number;
  /** How long the model stays in memory after an answer, such as `10m`; -1 for ever. */
  readonly keepAlive?: string | number;
};

type Wire = { readonly [key: string]: unknown };
type Ready = { readonly bodyOf: (request: ModelRequest) => PrefixBody; readonly guard: WindowGuard };

/** A provider for an Ollama server. */
export function ollamaProvider(options: OllamaOptions): Provider {
  const { model, apiKey, price, contextWindow } = options;
  const root = ollamaRoot(options.baseUrl);
  const headers: Readonly<Record<string, string>> = {
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...options.headers,
  };
  const who: Who = {
    name: 'ollama',
    model,
    url: placeOf(root),
    secrets: apiKey ? [apiKey] : [],
    ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
  };
  let ready: Ready | undefined;

  /** Once it is known the window stays: another one would load the model again and change the head of every request. */
  async function prepare(signal: AbortSignal): Promise<Ready> {
    if (ready) return ready;
    const window = await ollamaWindow(root, model, contextWindow, { headers, signal, who });
    ready ??= {
      bodyOf: bodyMaker({
        encode: ollamaMessage,
        sight: options.images ?? 'unknown',
        head: (request) => headText(request, options, window),
        tail: () => ']}',
      }),
      guard: windowGuard(who, window),
    };
    return ready;
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const { bodyOf, guard } = await prepare(signal);
    const { body, chars } = bodyOf(request);
    guard.check(request, chars);
    const reply = await post({
      url: `${root}/api/chat`,
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson', ...headers },
      body,
      signal,
      who,
    });
    if (!isSuccess(reply)) throw await refusal(reply, who);
    for await (const chunk of readOllama(reply.body, who, model)) {
      if (chunk.type === 'end') guard.learn(request, chars, chunk.usage);
      yield chunk;
    }
  }

  return { family: 'ollama', model, ...(price ? { price } : {}), stream };
}

function headText(request: ModelRequest, { model, keepAlive }: OllamaOptions, window: number): string {
  const { outputSchema, settings, toolChoice } = request;
  const tools = toolChoice === 'none' ? [] : request.tools;
  // A grammar for the answer would forbid the calls: with tools the schema is told in words.
  const format = outputSchema && request.tools.length === 0 ? { format: outputSchema } : {};
  const system = outputSchema && request.tools.length > 0 ? withSchemaRule(request) : request.system;
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
    ...(tools.length > 0 ? { tools: tools.map(toolField) } : {}),
  });
  const opening = system === '' ? '' : JSON.stringify({ role: 'system', content: system });
  return `${fields.slice(0, -1)},"messages":[${opening}`;
}

/** Only gpt-oss knows degrees of thinking, and cannot do without. */
function thinkField(reasoning: NonNullable<ModelSettings['reasoning']>, model: string): boolean | string {
  if (!model.includes('gpt-oss')) return reasoning !== 'none';
  return reasoning === 'none' ? 'low' : reasoning;
}

function optionFields({ maxOutputTokens, temperature, topP, seed, stop }: ModelSettings, window: number): Wire {
  return {
    num_ctx: window,
    ...(maxOutputTokens === undefined ? {} : { num_predict: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
  };
}
