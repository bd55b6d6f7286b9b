// Writes OpenAI chat completion responses: whole documents and chunks of a stream.
import type { JsonObject } from '../../core/index.ts';

/** Writes the fields that start every completion and chunk. */
export const writeChatHead = (
  object: 'chat.completion' | 'chat.completion.chunk',
  model: string,
  id = `chatcmpl-${crypto.randomUUID()}`,
): JsonObject => ({ id, object, created: Math.floor(Date.now() / 1000), model });

/** Writes a completion with one choice. */
export const writeChatCompletion = (head: JsonObject, message: JsonObject, finish: string): JsonObject => ({
  ...head,
  choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
});

/** Writes a chunk with one choice. */
export const writeChatChunk = (head: JsonObject, delta: JsonObject, finish: string | null = null): JsonObject => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});

/** Writes an assistant message; `extra` fields follow the content. */
export const writeChatMessage = (
  content: string | null,
  toolCalls: readonly JsonObject[],
  extra: JsonObject = {},
): JsonObject => ({
  role: 'assistant',
  content,
  ...extra,
  ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
});

/** Writes a tool call; `text` is its arguments as JSON. */
export const writeChatToolCall = (id: string, name: string, text: string): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
