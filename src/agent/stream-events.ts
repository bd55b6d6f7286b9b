// A run as the event stream that users of message APIs know: message_start to message_stop for each turn, tool results between.
import { callId, type Chunk, type Event, type Json, type Message, type MessagePart } from '../core/index.ts';
import { toRunUsage, streamStopReason, type RunResult, type RunUsage, type StreamStopReason } from './result.ts';

/** A block of a message as it begins. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Json };

/** What is added to a block. */
export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

/** An event of a streamed run. The last one is always `result`, whatever happened. */
export type StreamEvent =
  | { readonly type: 'message_start'; readonly turn: number }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: ContentBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly stop_reason: StreamStopReason; readonly usage: RunUsage }
  | { readonly type: 'message_stop' }
  | { readonly type: 'message_discarded'; readonly reason: string }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly tool_name: string;
      readonly content: string;
      readonly is_error: boolean;
    }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'result'; readonly result: RunResult };

/** Turns what a session sees, chunks and events, into stream events. One translator serves one run. */
export function createEventTranslator(emit: (event: StreamEvent) => void): {
  readonly chunk: (chunk: Chunk) => void;
  readonly event: (event: Event) => void;
} {
  let turn = 0;
  let blocks: ContentBlock['type'][] = [];
  let tools = 0;
  const names = new Map<string, string>();

  function begin(at: number): void {
    turn = at;
    blocks = [];
    tools = 0;
    emit({ type: 'message_start', turn });
  }
  function open(index: number, block: ContentBlock): void {
    blocks[index] = block.type;
    emit({ type: 'content_block_start', index, content_block: block });
  }
  function chunk(chunk: Chunk): void {
    if (chunk.type === 'part-delta')
      return emit({
        type: 'content_block_delta',
        index: chunk.index,
        delta: blockDelta(blocks[chunk.index] ?? 'text', chunk.text),
      });
    if (chunk.type === 'part-ended') return emit({ type: 'content_block_stop', index: chunk.index });
    if (chunk.type === 'part-started') {
      if (chunk.part === 'tool-call')
        return open(chunk.index, { type: 'tool_use', id: callId(turn, tools++), name: chunk.tool, input: {} });
      return open(chunk.index, chunk.part === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '' });
    }
    if (chunk.type === 'restarted') {
      emit({ type: 'message_discarded', reason: chunk.why });
      begin(turn);
    }
  }
  /** A provider that gave its answer whole still makes the same events. */
  function whole(message: Message): void {
    message.parts.forEach((part, index) => {
      const words = partDeltaText(part);
      if (words === undefined) return;
      chunk(
        part.type === 'tool-call'
          ? { type: 'part-started', index, part: 'tool-call', id: part.id, tool: part.tool }
          : { type: 'part-started', index, part: part.type === 'reasoning' ? 'reasoning' : 'text' },
      );
      chunk({ type: 'part-delta', index, text: words });
      chunk({ type: 'part-ended', index });
    });
  }
  function event(event: Event): void {
    if (event.type === 'turn-started') return begin(event.turn);
    if (event.type === 'turn-ended') {
      if (blocks.length === 0) whole(event.message);
      for (const part of event.message.parts) if (part.type === 'tool-call') names.set(part.id, part.tool);
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = event.usage;
      emit({
        type: 'message_delta',
        stop_reason: streamStopReason(event),
        usage: toRunUsage({
          input,
          output,
          cacheRead,
          cacheWrite,
          turns: 1,
          calls: 0,
          usd: 0,
          turnsWithoutPrice: 0,
          ms: 0,
        }),
      });
      return emit({ type: 'message_stop' });
    }
    if (event.type === 'turn-failed') {
      emit({ type: 'message_discarded', reason: event.error.message });
      return emit({ type: 'error', code: event.error.code, message: event.error.message });
    }
    if (event.type === 'tool-ended')
      emit({
        type: 'tool_result',
        tool_use_id: event.call,
        tool_name: names.get(event.call) ?? '',
        content: event.text,
        is_error: event.outcome !== 'ok',
      });
  }
  return { chunk, event };
}

function blockDelta(block: ContentBlock['type'], text: string): BlockDelta {
  if (block === 'tool_use') return { type: 'input_json_delta', partial_json: text };
  return block === 'thinking' ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text };
}

function partDeltaText(part: MessagePart): string | undefined {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  return part.type === 'tool-call' ? (part.invalid ?? JSON.stringify(part.input)) : undefined;
}
