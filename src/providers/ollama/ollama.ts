// Provider for Ollama through its native chat API: the OpenAI-compatible one cannot set the context window.
import {
  continuedText,
  formatToolResult,
  messageText,
  type Chunk,
  type FilePart,
  type Message,
  type MessagePart,
  type ModelRequest,
  type ModelSettings,
  type Price,
  type Provider,
} from '../../core/index.ts';
import { createContextGuard, type ContextGuard } from '../http/context-guard.ts';
import { toolResultFileParts } from '../http/encode-messages.ts';
import type { ProviderInfo } from '../http/errors.ts';
import { isSuccess, redactUrl, post, readErrorReply } from '../http/http.ts';
import { createBodyEncoder, withSchemaInstruction, type EncodedBody } from '../http/request-body.ts';
import { sanitizeToolName, toolDefinition } from '../openai-compatible/request.ts';
import { ollamaBaseUrl, resolveOllamaContextWindow } from './context-window.ts';
import { readOllamaStream } from './response.ts';

/** Options of an Ollama model. */
export type OllamaOptions = {
  readonly model: string;
  readonly baseUrl: string;
  /** Required only by Ollama's hosted service and by proxies. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly keyVariable?: string;
  readonly price?: Price;
  /** Whether the model accepts images; default unknown. */
  readonly images?: boolean;
  /** The requested context window; see `resolveOllamaContextWindow`. */
  readonly contextWindow?: number;
  /** How long the model stays in memory after a response, such as `10m`; -1 keeps it loaded. */
  readonly keepAlive?: string | number;
};

type WireObject = { readonly [key: string]: unknown };
type PreparedModel = { readonly encodeBody: (request: ModelRequest) => EncodedBody; readonly guard: ContextGuard };

/** Creates a provider for an Ollama server. */
export function ollamaProvider(options: OllamaOptions): Provider {
  const { model, apiKey, price, contextWindow } = options;
  const root = ollamaBaseUrl(options.baseUrl);
  const headers: Readonly<Record<string, string>> = {
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...options.headers,
  };
  const providerInfo: ProviderInfo = {
    name: 'ollama',
    model,
    url: redactUrl(root),
    secrets: apiKey ? [apiKey] : [],
    ...(options.keyVariable === undefined ? {} : { keyVariable: options.keyVariable }),
  };
  let ready: PreparedModel | undefined;

  /** The context window is resolved once: another one would reload the model and change the head of every request. */
  async function prepare(signal: AbortSignal): Promise<PreparedModel> {
    if (ready) return ready;
    const window = await resolveOllamaContextWindow(root, model, contextWindow, { headers, signal, providerInfo });
    ready ??= {
      encodeBody: createBodyEncoder({
        encode: encodeOllamaMessage,
        imageSupport: options.images ?? 'unknown',
        head: (request) => encodeRequestHead(request, options, window),
        tail: () => ']}',
      }),
      guard: createContextGuard(providerInfo, window),
    };
    return ready;
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Chunk> {
    const { encodeBody, guard } = await prepare(signal);
    const { body, chars } = encodeBody(request);
    guard.check(request, chars);
    const reply = await post({
      url: `${root}/api/chat`,
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson', ...headers, ...request.trace },
      body,
      signal,
      providerInfo,
    });
    if (!isSuccess(reply)) throw await readErrorReply(reply, providerInfo);
    for await (const chunk of readOllamaStream(reply.body, providerInfo, model)) {
      if (chunk.type === 'end') guard.learn(request, chars, chunk.usage);
      yield chunk;
    }
  }

  return { family: 'ollama', model, ...(price ? { price } : {}), stream };
}

function encodeRequestHead(request: ModelRequest, { model, keepAlive }: OllamaOptions, window: number): string {
  const { outputSchema, settings, toolChoice } = request;
  const tools = toolChoice === 'none' ? [] : request.tools;
  // A response format would prevent tool calls: with tools, the schema is in the system text.
  const format = outputSchema && request.tools.length === 0 ? { format: outputSchema } : {};
  const system = outputSchema && request.tools.length > 0 ? withSchemaInstruction(request) : request.system;
  const fields = JSON.stringify({
    model,
    stream: settings.stream !== false,
    // Newer versions then reject a request that is too long, and stop at the end of the window instead of dropping its beginning.
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

/** Only gpt-oss has levels of reasoning; its reasoning cannot be disabled. */
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

/** Encodes a message: images as base64 without a data URL, arguments as objects, one message per tool result. */
function encodeOllamaMessage(message: Message): readonly WireObject[] {
  const { role, parts } = message;
  // Ollama accepts two assistant messages in a row, so it needs no placeholder between them.
  if (role === 'user' && messageText(message) === continuedText && parts.length === 1) return [];
  const files = toolResultFileParts(message);
  if (role === 'tool') return [...parts.map(encodeToolResult), ...(files.length > 0 ? [encodeUserMessage(files)] : [])];
  return [role === 'assistant' ? encodeAssistantMessage(parts) : encodeUserMessage(parts)];
}

function encodeToolResult(part: MessagePart): WireObject {
  if (part.type !== 'tool-result') return encodeUserMessage([part]);
  return {
    role: 'tool',
    content: formatToolResult(part),
    tool_name: sanitizeToolName(part.tool),
    tool_call_id: part.id,
  };
}

function encodeAssistantMessage(parts: readonly MessagePart[]): WireObject {
  const thinking = parts.flatMap((part) =>
    part.type === 'reasoning' && part.meta?.family === 'ollama' ? [part.text] : [],
  );
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.id, function: { name: sanitizeToolName(part.tool), arguments: part.input } }]
      : [],
  );
  return {
    role: 'assistant',
    content: joinText(parts, ''),
    ...(thinking.length > 0 ? { thinking: thinking.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function encodeUserMessage(parts: readonly MessagePart[]): WireObject {
  const files = parts.filter((part) => part.type === 'file');
  const images = files.filter(isInlineImage).map((part) => part.data.replace(/^data:[^,]*,/, ''));
  // Ollama accepts no other files: they are described in the text.
  const others = files.filter((part) => !isInlineImage(part)).map(describeFile);
  const content = [joinText(parts, '\n\n'), ...others].filter((each) => each !== '').join('\n\n');
  return { role: 'user', content, ...(images.length > 0 ? { images } : {}) };
}

const isInlineImage = ({ mediaType, data }: FilePart): boolean =>
  mediaType.startsWith('image/') && !/^https?:/.test(data);

function describeFile({ mediaType, data, name }: FilePart): string {
  const isUrl = /^(https?|data):/.test(data);
  if (mediaType.startsWith('text/') && !isUrl)
    return `${name ? `${name}:\n` : ''}${Buffer.from(data, 'base64').toString('utf8')}`;
  return `[file: ${name ?? (isUrl && !data.startsWith('data:') ? data : mediaType)}]`;
}

const joinText = (parts: readonly MessagePart[], separator: string): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator);
