// What a run says, as a chat completion: whole, or in pieces.
import { asString } from '../../wire/index.ts';
import { writeChatHead } from '../../wire/openai-chat/write-response.ts';
import type { WireStreamEvent } from '../../wire/index.ts';
import { isObject, type FleetRun, type JsonObject } from '../../core/index.ts';
import { formatCallId } from './call-ids.ts';
import { formatUsage, type CompletionResult } from './completion-result.ts';
import { formatOpenAiError } from './errors.ts';
import type { ResponseEncoder } from './response-encoder.ts';

/** The way of chat completions. */
export function createChatEncoder(request: JsonObject, { id }: FleetRun): ResponseEncoder {
  const { stream_options: options } = request;
  const counts = isObject(options) && options['include_usage'] === true;
  const base = writeChatHead('chat.completion.chunk', asString(request['model']), `chatcmpl-${id}`);
  const chunk = (delta: JsonObject, finish: string | null = null): WireStreamEvent => ({
    data: {
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(counts ? { usage: null } : {}),
    },
  });
  const usage = (run: FleetRun): JsonObject =>
    formatUsage(run, { input: 'prompt_tokens', output: 'completion_tokens' });
  return {
    encodeWhole: (told) => ({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message: formatMessage(told), logprobs: null, finish_reason: told.finish }],
      usage: usage(told.run),
    }),
    encodeStart: () => [chunk({ role: 'assistant', content: '', refusal: null })],
    encodeDelta: (text) => [chunk({ content: text })],
    encodeEnd: (told) => [
      ...(told.refusal === undefined ? [] : [chunk({ refusal: told.refusal })]),
      ...formatToolCalls(told).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, told.finish),
      ...(counts ? [{ data: { ...base, choices: [], usage: usage(told.run) } }] : []),
      { data: '[DONE]' },
    ],
    encodeError: (refusal) => ({ data: { error: formatOpenAiError(refusal) } }),
  };
}

function formatMessage(told: CompletionResult): JsonObject {
  const calls = formatToolCalls(told);
  const isSilent = told.text === '' && (calls.length > 0 || told.refusal !== undefined);
  return {
    role: 'assistant',
    content: isSilent ? null : told.text,
    refusal: told.refusal ?? null,
    annotations: [],
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

const formatToolCalls = ({ run, calls }: CompletionResult): readonly JsonObject[] =>
  calls.map(({ id, tool, input }) => ({
    id: formatCallId(run, id),
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
