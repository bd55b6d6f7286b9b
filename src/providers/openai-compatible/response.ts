// Reads the reply of a chat completion as chunks: server-sent events, or one JSON document.
import {
  isObject,
  type Chunk,
  type FilePart,
  type Json,
  type JsonObject,
  type ProviderMetadata,
} from '../../core/index.ts';
import { createResponseAssembler } from '../http/response-assembler.ts';
import { createSseDecoder } from '../http/sse.ts';
import {
  appendReasoningDetails,
  createToolCallIndex,
  parseReasoning,
  parseThinkingChunk,
  parseToolCall,
} from './deltas.ts';
import { createContentFastPath } from './fast-parse.ts';
import type { WireObject, ReportedUsage } from '../../wire/index.ts';
import { chatFailureStatus, findChatUsage, parseChatFinish } from '../../wire/openai-chat/index.ts';
import {
  errorBodyError,
  malformedResponseError,
  maxResponseChars,
  responseTooLargeError,
  truncatedResponseError,
  withUsage,
  type ProviderInfo,
} from '../http/errors.ts';

/** Options of the parser; `keepReasoning` is what the server requires back in the next request. */
export type ChatStreamOptions = {
  readonly providerInfo: ProviderInfo;
  readonly family: string;
  readonly model: string;
  readonly keepReasoning: 'none' | 'text' | 'details';
};

/** Yields the chunks of a response: the last is `end` if the response is complete; else the generator throws. */
export async function* readChatStream(body: AsyncIterable<Buffer>, options: ChatStreamOptions): AsyncGenerator<Chunk> {
  const { providerInfo } = options;
  const parser = createChatStreamParser(options);
  const decoder = createSseDecoder(providerInfo);
  const pieces: Buffer[] = [];
  let form: BodyForm | undefined;
  let size = 0;
  const pushEvents = (bytes: Buffer): void => {
    for (const { event, data } of decoder.push(bytes)) parser.pushEvent(event, data);
  };
  try {
    try {
      for await (const bytes of body) {
        if (form === 'events') pushEvents(bytes);
        else {
          size += bytes.length;
          if (size > maxResponseChars) throw responseTooLargeError(providerInfo);
          pieces.push(bytes);
          form ??= size > maxSniffBytes ? 'document' : sniffBodyForm(pieces);
          if (form === 'events') pushEvents(Buffer.concat(pieces));
        }
        yield* parser.takeChunks();
        if (parser.done) break;
      }
    } catch (error) {
      // After the finish reason the response is complete: at most its token counts are lost.
      if (!parser.finished) throw error;
    }
    if (form === undefined) throw truncatedResponseError(providerInfo);
    if (form === 'document') parser.pushDocument(Buffer.concat(pieces).toString('utf8'));
    parser.end();
  } catch (error) {
    throw withUsage(error, parser.reported);
  }
  yield* parser.takeChunks();
}

const maxSniffBytes = 65_536;

type BodyForm = 'events' | 'document';

/** Detects the form from the first characters, because content types are unreliable; undefined while there are too few. */
function sniffBodyForm(pieces: readonly Buffer[]): BodyForm | undefined {
  const start = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/^\u{feff}/u, '')
    .trimStart();
  if (/^(:|data|event|id|retry)/.test(start)) return 'events';
  const isOpen = ['data', 'event', 'id', 'retry', '\u{fffd}'].some((name) => name.startsWith(start));
  return isOpen ? undefined : 'document';
}

/** Parses one response. */
interface ChatStreamParser {
  pushEvent(name: string, data: string): void;
  /** Parses a response that is one JSON document. */
  pushDocument(text: string): void;
  /** The server has sent `[DONE]`. */
  readonly done: boolean;
  /** A finish reason has arrived: the response is complete. */
  readonly finished: boolean;
  /** Usage and cost that the server has reported so far. */
  readonly reported: ReportedUsage;
  /** Ends the response; throws if it is incomplete or failed. */
  end(): void;
  takeChunks(): readonly Chunk[];
}

/** Creates a parser. After the finish reason only token counts are read, so that no partial tool call can follow it. */
function createChatStreamParser(options: ChatStreamOptions): ChatStreamParser {
  const { providerInfo, family } = options;
  const parts = createResponseAssembler(providerInfo, 'apart');
  const calls = createToolCallIndex();
  const fastPath = createContentFastPath();
  const details: Record<string, Json>[] = [];
  const ownMeta = (data: JsonObject): ProviderMetadata => ({ family, data });
  const reasoningMeta = options.keepReasoning === 'text' ? ownMeta({}) : undefined;
  let { model } = options;
  let reported: ReportedUsage = { usage: {} };
  let finish: string | undefined;
  let isRefusal = false;
  let done = false;

  function readChunk(value: WireObject): void {
    // First, because the event that reports an error may also report what the request cost.
    reported = findChatUsage(value) ?? reported;
    if (value['error'] || value['object'] === 'error') throw errorBodyError(value, providerInfo);
    if (typeof value['model'] === 'string' && value['model'] !== '') model = value['model'];
    const choice = firstChoice(value['choices']);
    if (!choice) return;
    if (choice['error']) throw errorBodyError(choice, providerInfo);
    const content = choice['delta'] ?? choice['message'];
    if (isObject(content)) {
      const { reasoning_details: pieces } = content;
      if (pieces !== undefined && options.keepReasoning === 'details') {
        parts.count(JSON.stringify(pieces).length);
        appendReasoningDetails(details, pieces);
      }
      if (finish === undefined) readContent(content, choice['delta'] === undefined || choice['delta'] === null);
    }
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') finish ??= reason;
  }

  function readContent(message: WireObject, isWhole: boolean): void {
    const reasoning = parseReasoning(message);
    if (reasoning !== '') parts.reasoning(reasoning, reasoningMeta);
    const { content, refusal, tool_calls: list, function_call: legacy, images, extra_content: extra } = message;
    if (typeof content === 'string') parts.text(content);
    else if (Array.isArray(content)) content.forEach(readPiece);
    if (typeof refusal === 'string' && refusal !== '') {
      isRefusal = true;
      parts.text(refusal);
    }
    if (isObject(extra)) parts.text('', ownMeta({ extra_content: extra as Json }));
    if (Array.isArray(images)) images.forEach(readImage);
    if (Array.isArray(list)) list.forEach((each, index) => readCall(each, isWhole ? index : undefined));
    if (isObject(legacy)) readCall(legacy, 0);
  }

  function readPiece(value: unknown): void {
    if (typeof value === 'string') parts.text(value);
    if (!isObject(value)) return;
    if (typeof value['text'] === 'string') parts.text(value['text']);
    else if (value['thinking'] !== undefined) parts.reasoning(parseThinkingChunk(value['thinking']), reasoningMeta);
    else if (value['type'] === 'image_url') readImage(value);
  }

  function readImage(value: unknown): void {
    const found = isObject(value) ? parseImage(value['image_url']) : undefined;
    if (found) parts.file(found);
  }

  function readCall(value: unknown, position: number | undefined): void {
    const call = parseToolCall(value);
    if (!call || !isObject(value)) return;
    const { index, extra_content: extra } = value;
    const meta = isObject(extra) ? { meta: ownMeta({ extra_content: extra as Json }) } : {};
    parts.call(calls.keyOf(call, position ?? index), { ...call, ...meta });
  }

  return {
    pushEvent(name, data) {
      const content = finish === undefined && !done && name === 'message' ? fastPath.extractContent(data) : undefined;
      if (content !== undefined) return parts.text(content);
      if (done || data === '') return;
      if (data.startsWith('[DONE]')) {
        done = true;
        return;
      }
      const value = parseEvent(data, providerInfo);
      if (name === 'error') throw errorBodyError(value, providerInfo);
      if (!isObject(value)) return;
      readChunk(value);
      fastPath.learn(data, value);
    },
    pushDocument(text) {
      const value = parseDocument(text, providerInfo);
      if (!Array.isArray(value['choices'])) throw notAResponseError(value, text, providerInfo);
      readChunk(value);
      if (!firstChoice(value['choices']))
        throw malformedResponseError('a response without a choice', text, providerInfo, true);
      finish ??= '';
    },
    get done() {
      return done;
    },
    get finished() {
      return finish !== undefined;
    },
    get reported() {
      return reported;
    },
    end() {
      if (finish === undefined && (!done || calls.count > 0)) throw truncatedResponseError(providerInfo);
      const status = finish === undefined ? undefined : chatFailureStatus(finish);
      if (status !== undefined)
        throw errorBodyError({ error: { message: `The model stopped: ${finish}`, code: status } }, providerInfo);
      if (details.length > 0) parts.reasoning('', ownMeta({ details }));
      parts.end({
        finishReason: isRefusal ? 'refusal' : parseChatFinish(finish ?? ''),
        ...(finish ? { rawFinishReason: finish } : {}),
        ...reported,
        model,
      });
    },
    takeChunks: () => parts.takeChunks(),
  };
}

function firstChoice(choices: unknown): WireObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const each of choices as unknown[]) if (isObject(each) && (each['index'] ?? 0) === 0) return each;
  return undefined;
}

function parseImage(value: unknown): FilePart | undefined {
  const url = isObject(value) ? value['url'] : value;
  if (typeof url !== 'string') return undefined;
  const inline = /^data:([^;,]+);base64,/.exec(url.slice(0, 200));
  return { type: 'file', mediaType: inline?.[1] ?? 'image/*', data: inline ? url.slice(inline[0].length) : url };
}

function parseEvent(data: string, providerInfo: ProviderInfo): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    throw malformedResponseError('an event that is not JSON', data, providerInfo, true);
  }
}

function parseDocument(text: string, providerInfo: ProviderInfo): WireObject {
  try {
    const value = JSON.parse(text) as unknown;
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (isObject(first)) return first;
  } catch (error) {
    if (isTruncatedJson(text, error)) throw truncatedResponseError(providerInfo, error);
  }
  throw malformedResponseError('a body that is not a response', text, providerInfo);
}

/** Whether the text is valid JSON up to its end. */
function isTruncatedJson(text: string, error: unknown): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  const message = String(error);
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  return /end of JSON|Unterminated/.test(message) || position >= text.trimEnd().length;
}

const notAResponseError = (value: WireObject, text: string, providerInfo: ProviderInfo): Error =>
  ['error', 'message', 'detail', 'errors'].some((name) => value[name])
    ? errorBodyError(value, providerInfo)
    : malformedResponseError('JSON that is not a response', text, providerInfo);
