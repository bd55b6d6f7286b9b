// Writes scripted responses as OpenAI chat completions.
import type { JsonObject } from '../../core/index.ts';
import { asObject, fillCounts, formatSseFrame, formatStreamEvent } from '../../wire/index.ts';
import {
  chatFinishNames,
  writeChatChunk,
  writeChatCompletion,
  writeChatHead,
  writeChatMessage,
  writeChatToolCall,
  writeChatUsage,
  writeOpenAiError,
} from '../../wire/openai-chat/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import { splitText, splitToolArguments } from '../split-text.ts';
import { compileTemplate, type ResponseWriter, type ResponseWriterContext, type StreamParts } from './writer.ts';

/** Writes OpenAI chat completions. */
export const chatWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole(response, context) {
    const { text, reasoning, finish, calls, model } = response;
    const isRefusal = finish === 'refusal';
    const message = writeChatMessage(
      isRefusal || text === '' ? null : text,
      calls.map((call) => writeChatToolCall(call.id, call.tool, call.raw)),
      {
        ...(reasoning === '' ? {} : { [context.reasoningField]: reasoning }),
        refusal: isRefusal ? text : null,
        annotations: [],
      },
    );
    const usage = writeUsage(response);
    return JSON.stringify({
      ...writeChatCompletion(
        writeChatHead('chat.completion', model, completionId(context)),
        message,
        chatFinishNames[finish],
      ),
      ...(usage ? { usage } : {}),
      ...serverFields,
    });
  },
  writeStream: writeChatStream,
  writeError: (failure) => JSON.stringify({ error: writeScriptedError(failure) }),
  writeErrorEvent: (failure) => formatStreamEvent({ data: { error: writeScriptedError(failure) } }),
};

const serverFields = { service_tier: 'default', system_fingerprint: 'fp_scripted' };

const completionId = ({ index }: ResponseWriterContext): string => `chatcmpl-${index.toString(36).padStart(8, '0')}`;

function writeChatStream(response: ResolvedResponse, context: ResponseWriterContext): StreamParts {
  const { include_usage } = asObject(context.body['stream_options']);
  const usage = include_usage === true ? writeUsage(response) : undefined;
  const head = { ...writeChatHead('chat.completion.chunk', response.model, completionId(context)), ...serverFields };
  const chunk = (delta: JsonObject, finish?: string): JsonObject => ({
    ...writeChatChunk(head, delta, finish),
    ...(usage ? { usage: null } : {}),
  });
  const frame = (data: JsonObject): string => formatStreamEvent({ data });
  const textFrame = (field: string): ((text: string) => string) => {
    const write = compileTemplate((text) => chunk({ [field]: text }));
    return (text) => formatSseFrame(write(text));
  };
  return {
    open: frame(chunk({ role: 'assistant', content: response.textChunks.length ? '' : null, refusal: null })),
    deltas: [
      ...splitText(response.reasoning).map(textFrame(context.reasoningField)),
      ...response.textChunks.map(textFrame(response.finish === 'refusal' ? 'refusal' : 'content')),
      ...response.calls.flatMap((call, index) =>
        splitToolArguments(call.raw).map((piece, i) => {
          const more = frame(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
          const opening = chunk({ tool_calls: [{ index, ...writeChatToolCall(call.id, call.tool, '') }] });
          return i === 0 ? frame(opening) + more : more;
        }),
      ),
    ],
    close: frame(chunk({}, chatFinishNames[response.finish])) + (usage ? frame({ ...head, choices: [], usage }) : ''),
    done: formatSseFrame('[DONE]'),
  };
}

/** The real service also counts audio and predicted tokens. */
function writeUsage({ usage, usd }: ResolvedResponse): JsonObject | undefined {
  const counts = fillCounts(usage);
  if (!counts) return undefined;
  const body = writeChatUsage(counts);
  return {
    ...body,
    prompt_tokens_details: { ...body.prompt_tokens_details, audio_tokens: 0 },
    completion_tokens_details: {
      ...body.completion_tokens_details,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    ...(usd === undefined ? {} : { cost: usd }),
  };
}

/** Writes the error object of chat completions and responses. */
export function writeScriptedError({ name, status, message }: ResolvedFailure): JsonObject {
  if (name === 'context-too-long')
    return writeOpenAiError(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      { type: errorType(status), param: 'messages', code: 'context_length_exceeded' },
    );
  return writeOpenAiError(message, { type: errorType(status), code: errorCodes[status] ?? null });
}

function errorType(status: number): string {
  if (status === 429) return 'requests';
  if (status === 402) return 'insufficient_quota';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

const errorCodes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
