// Finish reasons of OpenAI chat completions, including the words of compatible servers.
import type { FinishReason } from '../../core/index.ts';

const finishReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ...['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence'].map((each) => [each, 'stop'] as const),
  ...['tool_calls', 'function_call', 'tool_use'].map((each) => [each, 'tool-calls'] as const),
  ...['length', 'max_tokens', 'model_length'].map((each) => [each, 'length'] as const),
  ...['content_filter', 'safety'].map((each) => [each, 'filtered'] as const),
  ['refusal', 'refusal'],
]);

/** Parses a `finish_reason`; `other` if it is unknown. */
export const parseChatFinish = (reason: string): FinishReason => finishReasons.get(reason) ?? 'other';

const failureStatuses: ReadonlyMap<string, number> = new Map([
  ['error', 500],
  ['insufficient_system_resource', 503],
  ['abort', 503],
]);

/** Returns the HTTP status that a `finish_reason` stands for, if it reports a failure of the server. */
export const chatFailureStatus = (reason: string): number | undefined => failureStatuses.get(reason);

/** The `finish_reason` of each finish reason. */
export const chatFinishNames: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refusal: 'stop',
  filtered: 'content_filter',
  other: 'error',
};
