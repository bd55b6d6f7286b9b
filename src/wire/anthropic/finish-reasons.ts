// Stop reasons of Anthropic messages.
import type { FinishReason } from '../../core/index.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

/** Parses a `stop_reason`; `other` if it is unknown. */
export const parseAnthropicFinish = (reason: string): FinishReason => finishReasons[reason] ?? 'other';

/** The `stop_reason` of each finish reason. */
export const anthropicFinishNames: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  filtered: 'refusal',
  other: 'pause_turn',
};
