// Translates a run to the event stream of the Anthropic Messages API: message_start to message_stop for each turn, tool results in between.
import {
  callId,
  parseRetryNotice,
  type Chunk,
  type Event,
  type Json,
  type Message,
  type MessagePart,
  type ToolCall,
  type Usage,
} from '../core/index.ts';
import { createPartSequence, type PartChunk } from './part-sequence.ts';
import { messageStopReason, type MessageStopReason, type RunResult } from './result.ts';

/** A content block as it begins. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      readonly caller: { readonly type: 'direct' };
    };

/** What is added to a content block. */
export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string; readonly estimated_tokens: null }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

/** Why a message ended, as the protocol writes it. */
export type StreamStopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal';

/** Token counts as the protocol writes them. */
export type StreamUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly output_tokens_details: { readonly thinking_tokens: number } | null;
  readonly server_tool_use: null;
  readonly fallback_credit: null;
  readonly iterations: null;
};

/** A message as it begins: without content, and with token counts of zero. */
export type StartedMessage = {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: [];
  readonly stop_reason: null;
  readonly stop_sequence: null;
  readonly stop_details: null;
  readonly container: null;
  readonly context_management: null;
  readonly diagnostics: null;
  readonly usage: StreamUsage & {
    readonly cache_creation: null;
    readonly inference_geo: null;
    readonly service_tier: null;
    readonly speed: null;
  };
};

/** An event of a run. The six events of the Messages API have all fields of the API and of the Claude Agent SDK, which streams its beta form; the last event is always `result`. */
export type StreamEvent<Output = unknown> =
  | { readonly type: 'message_start'; readonly message: StartedMessage }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: ContentBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta';
      readonly delta: {
        readonly stop_reason: StreamStopReason;
        readonly stop_sequence: null;
        readonly stop_details: null;
        readonly container: null;
      };
      readonly context_management: null;
      readonly usage: StreamUsage;
    }
  | { readonly type: 'message_stop' }
  /** The message so far is void: the provider failed, and another attempt follows or the run ends. */
  | { readonly type: 'message_discarded'; readonly reason: string }
  /** A request to the model failed, and is sent again after `wait_ms`; or, if `held`, a rate limit of this process delays it. */
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly max_attempts: number | null;
      readonly wait_ms: number;
      readonly code: string | null;
      readonly reason: string;
      readonly held?: true;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly tool_name: string;
      readonly content: string;
      readonly is_error: boolean;
    }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'result'; readonly result: RunResult<Output> };

const streamStopReasons: Readonly<Record<MessageStopReason, StreamStopReason>> = {
  'end-turn': 'end_turn',
  'tool-use': 'tool_use',
  'max-tokens': 'max_tokens',
  refusal: 'refusal',
};

const toStreamUsage = ({ input = 0, output = 0, cacheRead, cacheWrite, reasoning }: Usage): StreamUsage => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead ?? null,
  cache_creation_input_tokens: cacheWrite ?? null,
  output_tokens_details: reasoning === undefined ? null : { thinking_tokens: reasoning },
  server_tool_use: null,
  fallback_credit: null,
  iterations: null,
});

const startedMessage = (id: string, model: string): StartedMessage => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  context_management: null,
  diagnostics: null,
  usage: { ...toStreamUsage({}), cache_creation: null, inference_geo: null, service_tier: null, speed: null },
});

/** Translates the chunks and events of one run. `model` returns the model of the turn that begins; `openCalls` are the calls of an earlier turn that this run finishes. */
export function createEventTranslator(
  emit: (event: StreamEvent) => void,
  model: () => string = () => '',
  openCalls: readonly Pick<ToolCall, 'id' | 'tool'>[] = [],
): {
  readonly chunk: (chunk: Chunk) => void;
  readonly event: (event: Event) => void;
} {
  let turn = 0;
  let messageId = '';
  let blocks: ContentBlock['type'][] = [];
  let toolCount = 0;
  const toolNames = new Map(openCalls.map(({ id, tool }) => [id, tool]));

  let parts = createPartSequence(emitPart);

  function startMessage(): void {
    blocks = [];
    toolCount = 0;
    parts = createPartSequence(emitPart);
    emit({ type: 'message_start', message: startedMessage(messageId, model()) });
  }
  function startBlock(index: number, block: ContentBlock): void {
    blocks[index] = block.type;
    emit({ type: 'content_block_start', index, content_block: block });
  }
  function emitPart(chunk: PartChunk): void {
    if (chunk.type === 'part-delta')
      return emit({
        type: 'content_block_delta',
        index: chunk.index,
        delta: blockDelta(blocks[chunk.index] ?? 'text', chunk.text),
      });
    if (chunk.type === 'part-ended') return emit({ type: 'content_block_stop', index: chunk.index });
    startBlock(
      chunk.index,
      chunk.part === 'tool-call'
        ? {
            type: 'tool_use',
            id: callId(turn, toolCount++),
            name: chunk.tool,
            input: {},
            caller: { type: 'direct' },
          }
        : emptyBlock(chunk.part),
    );
  }
  function chunk(chunk: Chunk): void {
    if (chunk.type === 'part-started' || chunk.type === 'part-delta' || chunk.type === 'part-ended')
      return parts.add(chunk);
    if (chunk.type === 'restarted') {
      emit({ type: 'message_discarded', reason: chunk.why });
      startMessage();
    }
  }
  /** A provider that does not stream produces the same events. */
  function emitMessage(message: Message): void {
    message.parts.forEach((part, index) => {
      const text = partText(part);
      if (text === undefined) return;
      chunk(
        part.type === 'tool-call'
          ? { type: 'part-started', index, part: 'tool-call', id: part.id, tool: part.tool }
          : { type: 'part-started', index, part: part.type === 'reasoning' ? 'reasoning' : 'text' },
      );
      chunk({ type: 'part-delta', index, text });
      chunk({ type: 'part-ended', index });
    });
  }
  function event(event: Event): void {
    if (event.type === 'turn-started') {
      turn = event.turn;
      messageId = `msg_${event.id}`;
      return startMessage();
    }
    if (event.type === 'turn-ended') {
      if (blocks.length === 0) emitMessage(event.message);
      parts.end();
      for (const part of event.message.parts) if (part.type === 'tool-call') toolNames.set(part.id, part.tool);
      emit({
        type: 'message_delta',
        delta: {
          stop_reason: streamStopReasons[messageStopReason(event)],
          stop_sequence: null,
          stop_details: null,
          container: null,
        },
        context_management: null,
        usage: toStreamUsage(event.usage),
      });
      return emit({ type: 'message_stop' });
    }
    if (event.type === 'turn-failed') {
      emit({ type: 'message_discarded', reason: event.error.message });
      return emit({ type: 'error', code: event.error.code, message: event.error.message });
    }
    const retry = parseRetryNotice(event);
    if (retry)
      return emit({
        type: 'retry',
        attempt: retry.attempt,
        max_attempts: retry.maxAttempts ?? null,
        wait_ms: Math.round(retry.waitMs ?? 0),
        code: retry.code ?? null,
        reason: retry.why,
        ...(retry.held ? { held: retry.held } : {}),
      });
    if (event.type === 'tool-ended')
      emit({
        type: 'tool_result',
        tool_use_id: event.call,
        tool_name: toolNames.get(event.call) ?? '',
        content: event.text,
        is_error: event.outcome !== 'ok',
      });
  }
  return { chunk, event };
}

const emptyBlock = (part: 'text' | 'reasoning'): ContentBlock =>
  part === 'text' ? { type: 'text', text: '', citations: null } : { type: 'thinking', thinking: '', signature: '' };

function blockDelta(block: ContentBlock['type'], text: string): BlockDelta {
  if (block === 'tool_use') return { type: 'input_json_delta', partial_json: text };
  return block === 'thinking'
    ? { type: 'thinking_delta', thinking: text, estimated_tokens: null }
    : { type: 'text_delta', text };
}

function partText(part: MessagePart): string | undefined {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  return part.type === 'tool-call' ? (part.invalid ?? JSON.stringify(part.input)) : undefined;
}
