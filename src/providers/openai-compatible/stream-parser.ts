// One chat answer in the making: every event or document the server sends goes in, chunks come out.
import {
  isObject,
  type Chunk,
  type FilePart,
  type Json,
  type JsonObject,
  type ProviderMetadata,
} from '../../core/index.ts';
import { createResponseAssembler } from '../http/response-assembler.ts';
import { createToolCallIndex, parseToolCall } from './tool-calls.ts';
import { createContentFastPath } from './fast-parse.ts';
import { appendReasoningDetails, parseReasoning, parseThinkingChunk } from './reasoning.ts';
import { findChatUsage } from '../../wire/openai-chat/usage.ts';
import { chatFailureStatus, parseChatFinish } from '../../wire/openai-chat/finish-reasons.ts';
import type { ReportedUsage } from '../../wire/usage.ts';
import { errorBodyError, truncatedResponseError, malformedResponseError, type ProviderInfo } from '../http/errors.ts';

/** Whose answer is read, and what of its thinking the server will want back. */
export type ChatStreamOptions = {
  readonly providerInfo: ProviderInfo;
  readonly family: string;
  readonly model: string;
  readonly keepReasoning: 'none' | 'text' | 'details';
};

/** An answer being read. */
export interface ChatStreamParser {
  pushEvent(name: string, data: string): void;
  /** A whole answer in one JSON document. */
  pushDocument(text: string): void;
  /** The server said that nothing more will come. */
  readonly done: boolean;
  /** The model said why it stopped: what came is the whole answer. */
  readonly finished: boolean;
  /** Usage and cost that the server has reported so far. */
  readonly reported: ReportedUsage;
  /** Ends the answer, or throws if it broke off. */
  end(): void;
  takeChunks(): readonly Chunk[];
}

type Fields = { readonly [key: string]: unknown };

/** Begins an answer. Nothing counts after the finish but the token counts: half a tool call can never follow it. */
export function createChatStreamParser(reader: ChatStreamOptions): ChatStreamParser {
  const { providerInfo, family } = reader;
  const parts = createResponseAssembler(providerInfo, 'apart');
  const calls = createToolCallIndex();
  const frame = createContentFastPath();
  const details: Record<string, Json>[] = [];
  const mine = (data: JsonObject): ProviderMetadata => ({ family, data });
  const kept = reader.keepReasoning === 'text' ? mine({}) : undefined;
  let { model } = reader;
  let reported: ReportedUsage = { usage: {} };
  let finish: string | undefined;
  let refused = false;
  let done = false;

  function chunk(value: Fields): void {
    // First, because the event that reports an error may also report what the request cost.
    reported = findChatUsage(value) ?? reported;
    if (value['error'] || value['object'] === 'error') throw errorBodyError(value, providerInfo);
    if (typeof value['model'] === 'string' && value['model'] !== '') model = value['model'];
    const choice = firstChoice(value['choices']);
    if (!choice) return;
    if (choice['error']) throw errorBodyError(choice, providerInfo);
    const said = choice['delta'] ?? choice['message'];
    if (isObject(said)) {
      appendReasoningDetails(details, said['reasoning_details']);
      if (finish === undefined) speak(said, choice['delta'] === undefined || choice['delta'] === null);
    }
    const why = choice['finish_reason'];
    if (typeof why === 'string' && why !== '') finish ??= why;
  }

  function speak(said: Fields, whole: boolean): void {
    const thought = parseReasoning(said);
    if (thought !== '') parts.reasoning(thought, kept);
    const { content, refusal, tool_calls: list, function_call: legacy, images, extra_content: extra } = said;
    if (typeof content === 'string') parts.text(content);
    else if (Array.isArray(content)) content.forEach(piece);
    if (typeof refusal === 'string' && refusal !== '') {
      refused = true;
      parts.text(refusal);
    }
    if (isObject(extra)) parts.text('', mine({ extra_content: extra as Json }));
    if (Array.isArray(images)) images.forEach(image);
    if (Array.isArray(list)) list.forEach((each, place) => call(each, whole ? place : undefined));
    if (isObject(legacy)) call(legacy, 0);
  }

  function piece(value: unknown): void {
    if (typeof value === 'string') parts.text(value);
    if (!isObject(value)) return;
    if (typeof value['text'] === 'string') parts.text(value['text']);
    else if (value['thinking'] !== undefined) parts.reasoning(parseThinkingChunk(value['thinking']), kept);
    else if (value['type'] === 'image_url') image(value);
  }

  function image(value: unknown): void {
    const found = isObject(value) ? parseImage(value['image_url']) : undefined;
    if (found) parts.file(found);
  }

  function call(value: unknown, place: number | undefined): void {
    const read = parseToolCall(value);
    if (!read || !isObject(value)) return;
    const { index, extra_content: extra } = value;
    const meta = isObject(extra) ? { meta: mine({ extra_content: extra as Json }) } : {};
    parts.call(calls.keyOf(read, place ?? index), { ...read, ...meta });
  }

  return {
    pushEvent(name, data) {
      const content = finish === undefined && !done && name === 'message' ? frame.extractContent(data) : undefined;
      if (content !== undefined) return parts.text(content);
      if (done || data === '') return;
      if (data.startsWith('[DONE]')) {
        done = true;
        return;
      }
      const value = parseEvent(data, providerInfo);
      if (name === 'error') throw errorBodyError(value, providerInfo);
      if (!isObject(value)) return;
      chunk(value);
      frame.learn(data, value);
    },
    pushDocument(text) {
      const value = parseDocument(text, providerInfo);
      if (!Array.isArray(value['choices'])) throw notAResponseError(value, text, providerInfo);
      chunk(value);
      if (!firstChoice(value['choices']))
        throw malformedResponseError('an answer without a choice', text, providerInfo, true);
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
      const failed = finish === undefined ? undefined : chatFailureStatus(finish);
      if (failed !== undefined)
        throw errorBodyError({ error: { message: `The model stopped: ${finish}`, code: failed } }, providerInfo);
      if (details.length > 0 && reader.keepReasoning === 'details') parts.reasoning('', mine({ details }));
      parts.end({
        finishReason: refused ? 'refusal' : parseChatFinish(finish ?? ''),
        ...(finish ? { rawFinishReason: finish } : {}),
        ...reported,
        model,
      });
    },
    takeChunks: () => parts.takeChunks(),
  };
}

function firstChoice(choices: unknown): Fields | undefined {
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

function parseEvent(data: string, who: ProviderInfo): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    throw malformedResponseError('an event that is not JSON', data, who, true);
  }
}

function parseDocument(text: string, who: ProviderInfo): Fields {
  try {
    const value = JSON.parse(text) as unknown;
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (isObject(first)) return first;
  } catch (error) {
    if (isTruncatedJson(text, error)) throw truncatedResponseError(who, error);
  }
  throw malformedResponseError('something that is no answer', text, who);
}

/** JSON that begins well and stops where more was expected. */
function isTruncatedJson(text: string, error: unknown): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  const message = String(error);
  const place = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  return /end of JSON|Unterminated/.test(message) || place >= text.trimEnd().length;
}

const notAResponseError = (value: Fields, text: string, who: ProviderInfo): Error =>
  ['error', 'message', 'detail', 'errors'].some((name) => value[name])
    ? errorBodyError(value, who)
    : malformedResponseError('JSON that is no answer', text, who);
