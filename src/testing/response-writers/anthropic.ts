// Anthropic messages as that service writes them.
import { splitToolArguments, splitText } from '../split-text.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import {
  parseArgumentsOrText,
  resolveCounts,
  sseEvent,
  compileTemplate,
  type FinishReasonNames,
  type ResponseWriterContext,
  type ResponseWriter,
  type StreamParts,
} from './writer.ts';

const anthropicFinishReasons: FinishReasonNames = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  filtered: 'refusal',
  other: 'pause_turn',
};

/** Writes an answer as a message. */
export const anthropicWriter: ResponseWriter = {
  streamType: 'text/event-stream; charset=utf-8',
  jsonType: 'application/json',
  writeWhole(answer, occasion) {
    const { reasoning, text, calls } = answer;
    return JSON.stringify({
      ...messageHead(answer, occasion),
      content: [
        ...(reasoning === ''
          ? []
          : [{ type: 'thinking', thinking: reasoning, signature: thinkingSignature(occasion) }]),
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls.map((call) => ({
          type: 'tool_use',
          id: toolUseId(call),
          name: call.tool,
          input: parseArgumentsOrText(call.raw),
        })),
      ],
      stop_reason: anthropicFinishReasons[answer.finish],
      stop_sequence: null,
      ...writeAnthropicUsage(answer),
    });
  },
  writeStream: writeAnthropicStream,
  writeError: (failure) =>
    JSON.stringify({ type: 'error', error: writeAnthropicError(failure), request_id: `req_${failure.status}scripted` }),
  writeErrorEvent: (failure) =>
    sseEvent('error', JSON.stringify({ type: 'error', error: writeAnthropicError(failure) })),
};

const messageHead = (answer: ResolvedResponse, { index }: ResponseWriterContext): object => ({
  id: `msg_${index.toString(36).padStart(8, '0')}`,
  type: 'message',
  role: 'assistant',
  model: answer.model,
});

/** What proves to the real service that a thought was its own. */
const thinkingSignature = ({ index }: ResponseWriterContext): string =>
  Buffer.from(`scripted thought ${index}`).toString('base64');

const toolUseId = (call: ResolvedResponse['calls'][number]): string =>
  call.given ? call.id : call.id.replace('call_', 'toolu_');

function writeAnthropicStream(answer: ResolvedResponse, occasion: ResponseWriterContext): StreamParts {
  const usage = writeAnthropicUsage(answer);
  const opening = 'usage' in usage ? { usage: { ...usage.usage, output_tokens: 1 } } : {};
  let block = -1;
  const start = (content: object): string =>
    sseEvent(
      'content_block_start',
      JSON.stringify({ type: 'content_block_start', index: ++block, content_block: content }),
    );
  const stop = (): string => sseEvent('content_block_stop', `{"type":"content_block_stop","index":${block}}`);
  const delta = (type: string, key: string): ((piece: string) => string) => {
    const index = block;
    const write = compileTemplate((text) => ({ type: 'content_block_delta', index, delta: { type, [key]: text } }));
    return (piece) => sseEvent('content_block_delta', write(piece));
  };
  /** The pieces of one block, the first with the block's beginning and the last with its end. */
  function blockOf(content: object, type: string, key: string, parts: readonly string[], ending = ''): string[] {
    const open = start(content);
    const write = delta(type, key);
    const close = ending + stop();
    return parts.map((piece, i) => (i === 0 ? open : '') + write(piece) + (i === parts.length - 1 ? close : ''));
  }
  const deltas: string[] = [];
  if (answer.reasoning !== '') {
    const thought = { type: 'thinking', thinking: '', signature: '' };
    const signed = sseEvent(
      'content_block_delta',
      JSON.stringify({
        type: 'content_block_delta',
        index: block + 1,
        delta: { type: 'signature_delta', signature: thinkingSignature(occasion) },
      }),
    );
    deltas.push(...blockOf(thought, 'thinking_delta', 'thinking', splitText(answer.reasoning), signed));
  }
  if (answer.textChunks.length)
    for (const part of blockOf({ type: 'text', text: '' }, 'text_delta', 'text', answer.textChunks)) deltas.push(part);
  for (const call of answer.calls) {
    const use = { type: 'tool_use', id: toolUseId(call), name: call.tool, input: {} };
    deltas.push(...blockOf(use, 'input_json_delta', 'partial_json', splitToolArguments(call.raw)));
  }
  return {
    open:
      sseEvent(
        'message_start',
        JSON.stringify({
          type: 'message_start',
          message: {
            ...messageHead(answer, occasion),
            content: [],
            stop_reason: null,
            stop_sequence: null,
            ...opening,
          },
        }),
      ) + sseEvent('ping', '{"type": "ping"}'),
    deltas,
    close: sseEvent(
      'message_delta',
      JSON.stringify({
        type: 'message_delta',
        delta: { stop_reason: anthropicFinishReasons[answer.finish], stop_sequence: null },
        ...('usage' in usage ? { usage: toAnthropicCounts(answer) } : {}),
      }),
    ),
    done: sseEvent('message_stop', '{"type":"message_stop"}'),
  };
}

function writeAnthropicUsage(answer: ResolvedResponse): { readonly usage?: object } {
  const counts = toAnthropicCounts(answer);
  if (!counts) return {};
  const written = counts.cache_creation_input_tokens;
  return {
    usage: {
      ...counts,
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
      service_tier: 'standard',
    },
  };
}

type AnthropicCounts = Readonly<
  Record<'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens' | 'output_tokens', number>
>;

function toAnthropicCounts({ usage }: ResolvedResponse): AnthropicCounts | undefined {
  const count = resolveCounts(usage);
  if (!count) return undefined;
  return {
    input_tokens: count.input - count.cacheRead - count.cacheWrite,
    cache_creation_input_tokens: count.cacheWrite,
    cache_read_input_tokens: count.cacheRead,
    output_tokens: count.output,
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const writeAnthropicError = ({ name, status, message }: ResolvedFailure): object => ({
  type: errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
  message: name === 'context-too-long' ? 'prompt is too long: 205000 tokens > 200000 maximum' : message,
});
