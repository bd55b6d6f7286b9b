// OpenAI chat completions, the dialect that most servers speak.
import { splitToolArguments, splitText } from '../split-text.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import {
  resolveCounts,
  sseData,
  nowSeconds,
  compileTemplate,
  type FinishReasonNames,
  type ResponseWriterContext,
  type ResponseWriter,
  type StreamParts,
} from './writer.ts';

const chatFinishReasons: FinishReasonNames = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refusal: 'stop',
  filtered: 'content_filter',
  other: 'error',
};

/** Writes an answer as a chat completion. */
export const chatWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole(answer, occasion) {
    const { text, reasoning, finish } = answer;
    const refused = finish === 'refusal';
    return JSON.stringify({
      ...completionHead(answer, occasion, 'chat.completion'),
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: refused || text === '' ? null : text,
            ...(reasoning === '' ? {} : { [occasion.reasoningField]: reasoning }),
            ...(answer.calls.length ? { tool_calls: answer.calls.map((call) => writeToolCall(call, call.raw)) } : {}),
            refusal: refused ? text : null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: chatFinishReasons[finish],
        },
      ],
      ...writeChatUsage(answer),
      service_tier: 'default',
      system_fingerprint: 'fp_scripted',
    });
  },
  writeStream: writeChatStream,
  writeError: (failure) => JSON.stringify({ error: writeOpenAIError(failure) }),
  writeErrorEvent: (failure) => sseData(JSON.stringify({ error: writeOpenAIError(failure) })),
};

const completionHead = (answer: ResolvedResponse, { index }: ResponseWriterContext, object: string): object => ({
  id: `chatcmpl-${index.toString(36).padStart(8, '0')}`,
  object,
  created: nowSeconds(),
  model: answer.model,
});

function writeChatStream(answer: ResolvedResponse, occasion: ResponseWriterContext): StreamParts {
  const asked = occasion.body['stream_options'] as { include_usage?: unknown } | undefined;
  const { usage } = asked?.include_usage === true ? writeChatUsage(answer) : {};
  const base = {
    ...completionHead(answer, occasion, 'chat.completion.chunk'),
    service_tier: 'default',
    system_fingerprint: 'fp_scripted',
  };
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(usage ? { usage: null } : {}),
  });
  const say = (value: object): string => sseData(JSON.stringify(value));
  const each = (make: (text: string) => object): ((text: string) => string) => {
    const write = compileTemplate((text) => chunk(make(text)));
    return (text) => sseData(write(text));
  };
  const textKey = answer.finish === 'refusal' ? 'refusal' : 'content';
  return {
    open: say(chunk({ role: 'assistant', content: answer.textChunks.length ? '' : null, refusal: null })),
    deltas: [
      ...splitText(answer.reasoning).map(each((text) => ({ [occasion.reasoningField]: text }))),
      ...answer.textChunks.map(each((text) => ({ [textKey]: text }))),
      ...answer.calls.flatMap((call, index) =>
        splitToolArguments(call.raw).map((piece, i) => {
          const more = say(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
          return i === 0 ? say(chunk({ tool_calls: [{ index, ...writeToolCall(call, '') }] })) + more : more;
        }),
      ),
    ],
    close: say(chunk({}, chatFinishReasons[answer.finish])) + (usage ? say({ ...base, choices: [], usage }) : ''),
    done: sseData('[DONE]'),
  };
}

const writeToolCall = (call: ResolvedResponse['calls'][number], text: string): object => ({
  id: call.id,
  type: 'function',
  function: { name: call.tool, arguments: text },
});

function writeChatUsage(answer: ResolvedResponse): { readonly usage?: object } {
  const count = resolveCounts(answer.usage);
  if (!count) return {};
  return {
    usage: {
      prompt_tokens: count.input,
      completion_tokens: count.output,
      total_tokens: count.input + count.output,
      prompt_tokens_details: {
        cached_tokens: count.cacheRead,
        ...(count.cacheWrite ? { cache_write_tokens: count.cacheWrite } : {}),
        audio_tokens: 0,
      },
      completion_tokens_details: {
        reasoning_tokens: count.reasoning,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
      ...(answer.usd === undefined ? {} : { cost: answer.usd }),
    },
  };
}

/** The error object that chat completions and responses share. */
export function writeOpenAIError({ name, status, message }: ResolvedFailure): object {
  const tooLong = name === 'context-too-long';
  return {
    message: tooLong
      ? "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages."
      : message,
    type: errorType(status),
    param: tooLong ? 'messages' : null,
    code: tooLong ? 'context_length_exceeded' : (errorCodes[status] ?? null),
  };
}

const errorType = (status: number): string =>
  status === 429
    ? 'requests'
    : status === 402
      ? 'insufficient_quota'
      : status < 500
        ? 'invalid_request_error'
        : 'server_error';

const errorCodes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  402: 'insufficient_quota',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
