// Writes the result of a run as an OpenAI chat completion, whole or streamed.
import type { FleetRun, JsonObject } from '../../core/index.ts';
import { asObject, asString, type WireStreamEvent } from '../../wire/index.ts';
import {
  chatFinishNames,
  writeChatChunk,
  writeChatCompletion,
  writeChatHead,
  writeChatMessage,
  writeChatToolCall,
  writeChatUsage,
} from '../../wire/openai-chat/index.ts';
import { formatCallId, getRunUsage, type CompletionResult, type ResponseEncoder } from './completion-result.ts';
import { formatOpenAiError } from './errors.ts';

/** Creates the encoder of chat completions. */
export function createChatEncoder(request: JsonObject, { id }: FleetRun): ResponseEncoder {
  const includeUsage = asObject(request['stream_options'])['include_usage'] === true;
  const head = writeChatHead('chat.completion.chunk', asString(request['model']), `chatcmpl-${id}`);
  const chunk = (delta: JsonObject, finish?: string): WireStreamEvent => ({
    data: { ...writeChatChunk(head, delta, finish), ...(includeUsage ? { usage: null } : {}) },
  });
  const usage = (run: FleetRun): JsonObject => writeChatUsage(getRunUsage(run));
  return {
    encodeWhole: (result) => ({
      ...writeChatCompletion(
        { ...head, object: 'chat.completion' },
        writeMessage(result),
        chatFinishNames[result.finish],
      ),
      usage: usage(result.run),
    }),
    encodeStart: () => [chunk({ role: 'assistant', content: '', refusal: null })],
    encodeDelta: (text) => [chunk({ content: text })],
    encodeEnd: (result) => [
      ...(result.refusal === undefined ? [] : [chunk({ refusal: result.refusal })]),
      ...writeToolCalls(result).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, chatFinishNames[result.finish]),
      ...(includeUsage ? [{ data: { ...head, choices: [], usage: usage(result.run) } }] : []),
      { data: '[DONE]' },
    ],
    encodeError: (error) => ({ data: { error: formatOpenAiError(error) } }),
  };
}

function writeMessage(result: CompletionResult): JsonObject {
  const { text, refusal } = result;
  const calls = writeToolCalls(result);
  const hasNoText = text === '' && (calls.length > 0 || refusal !== undefined);
  return writeChatMessage(hasNoText ? null : text, calls, { refusal: refusal ?? null, annotations: [] });
}

const writeToolCalls = ({ run, calls }: CompletionResult): readonly JsonObject[] =>
  calls.map(({ id, tool, input }) => writeChatToolCall(formatCallId(run, id), tool, JSON.stringify(input)));
