// Writes Anthropic message responses: whole documents and the events of a stream.
import type { JsonObject } from '../../core/index.ts';
import type { WireStreamEvent } from '../sse.ts';

/** Writes a message; `stop` is null while it is streamed. */
export const writeAnthropicMessage = (
  head: { readonly id?: string; readonly model: string },
  content: readonly JsonObject[],
  stop: string | null,
  usage?: JsonObject,
): JsonObject => ({
  id: head.id ?? `msg_${crypto.randomUUID().replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: head.model,
  content,
  stop_reason: stop,
  stop_sequence: null,
  ...(usage ? { usage } : {}),
});

/** Writes an event; the event name repeats the type. */
export const writeAnthropicEvent = (type: string, data: JsonObject = {}): WireStreamEvent => ({
  event: type,
  data: { type, ...data },
});

/** Writes the events of one content block: one delta per entry of `deltas`. */
export const writeBlockEvents = (
  index: number,
  block: JsonObject,
  deltas: readonly JsonObject[],
): readonly WireStreamEvent[] => [
  writeAnthropicEvent('content_block_start', { index, content_block: block }),
  ...deltas.map((delta) => writeAnthropicEvent('content_block_delta', { index, delta })),
  writeAnthropicEvent('content_block_stop', { index }),
];

/** Writes the event that ends the content. */
export const writeMessageDelta = (stop: string, usage?: JsonObject): WireStreamEvent =>
  writeAnthropicEvent('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    ...(usage ? { usage } : {}),
  });
