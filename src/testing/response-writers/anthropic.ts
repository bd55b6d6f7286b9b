// Writes scripted responses as Anthropic messages.
import type { JsonObject } from '../../core/index.ts';
import {
  anthropicFinishNames,
  writeAnthropicError,
  writeAnthropicEvent,
  writeAnthropicMessage,
  writeAnthropicUsage,
  writeBlockEvents,
  writeMessageDelta,
} from '../../wire/anthropic/index.ts';
import { fillCounts, formatStreamEvent } from '../../wire/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import { splitText, splitToolArguments } from '../split-text.ts';
import {
  parseArgumentsOrText,
  thinkingSignature,
  wrapDeltas,
  type ResponseWriter,
  type ResponseWriterContext,
  type StreamParts,
} from './writer.ts';

/** Writes Anthropic messages. */
export const anthropicWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole(response, context) {
    const { reasoning, text, calls } = response;
    const content = [
      ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: thinkingSignature(context) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ ...toolUse(call), input: parseArgumentsOrText(call.raw) })),
    ];
    const head = messageHead(response, context);
    return JSON.stringify(
      writeAnthropicMessage(head, content, anthropicFinishNames[response.finish], writeUsage(response)),
    );
  },
  writeStream: writeAnthropicStream,
  writeError: (failure) => JSON.stringify({ ...writeError(failure), request_id: `req_${failure.status}scripted` }),
  writeErrorEvent: (failure) => formatStreamEvent({ event: 'error', data: writeError(failure) }),
};

const messageHead = ({ model }: ResolvedResponse, { index }: ResponseWriterContext): { id: string; model: string } => ({
  id: `msg_${index.toString(36).padStart(8, '0')}`,
  model,
});

const toolUse = ({ given, id, tool }: ResolvedResponse['calls'][number]): JsonObject => ({
  type: 'tool_use',
  id: given ? id : id.replace('call_', 'toolu_'),
  name: tool,
});

function writeAnthropicStream(response: ResolvedResponse, context: ResponseWriterContext): StreamParts {
  let index = -1;
  const writeBlock = (block: JsonObject, deltas: readonly JsonObject[], last: readonly JsonObject[] = []) => {
    const events = writeBlockEvents(++index, block, [...deltas, ...last]).map(formatStreamEvent);
    const end = 1 + deltas.length;
    return wrapDeltas(events[0] ?? '', events.slice(1, end), events.slice(end).join(''));
  };
  const usage = writeUsage(response);
  const signature = { type: 'signature_delta', signature: thinkingSignature(context) };
  const deltas = [
    ...(response.reasoning === ''
      ? []
      : writeBlock(
          { type: 'thinking', thinking: '', signature: '' },
          splitText(response.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
          [signature],
        )),
    ...(response.textChunks.length === 0
      ? []
      : writeBlock(
          { type: 'text', text: '' },
          response.textChunks.map((text) => ({ type: 'text_delta', text })),
        )),
    ...response.calls.flatMap((call) =>
      writeBlock(
        { ...toolUse(call), input: {} },
        splitToolArguments(call.raw).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ),
    ),
  ];
  const opening = usage && { ...usage, output_tokens: 1 };
  const message = writeAnthropicMessage(messageHead(response, context), [], null, opening);
  const counts = fillCounts(response.usage);
  return {
    open:
      formatStreamEvent(writeAnthropicEvent('message_start', { message })) +
      formatStreamEvent(writeAnthropicEvent('ping')),
    deltas,
    close: formatStreamEvent(
      writeMessageDelta(anthropicFinishNames[response.finish], counts && writeAnthropicUsage(counts)),
    ),
    done: formatStreamEvent(writeAnthropicEvent('message_stop')),
  };
}

function writeUsage({ usage }: ResolvedResponse): JsonObject | undefined {
  const counts = fillCounts(usage);
  return (
    counts && {
      ...writeAnthropicUsage(counts),
      cache_creation: { ephemeral_5m_input_tokens: counts.cacheWrite, ephemeral_1h_input_tokens: 0 },
      service_tier: 'standard',
    }
  );
}

const writeError = ({ name, status, message }: ResolvedFailure): JsonObject =>
  writeAnthropicError(
    status,
    name === 'context-too-long' ? 'prompt is too long: 205000 tokens > 200000 maximum' : message,
  );
