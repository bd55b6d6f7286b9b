// Token counts and finish reasons of Ollama's chat API.
import type { FinishReason, JsonObject, Usage } from '../../core/index.ts';
import { numberOrUndefined, type WireObject } from '../fields.ts';
import { omitUnknownCounts } from '../usage.ts';

/** Parses the counts of the last line. */
export const parseOllamaUsage = (line: WireObject): Usage =>
  omitUnknownCounts({
    input: numberOrUndefined(line['prompt_eval_count']),
    output: numberOrUndefined(line['eval_count']),
    cacheRead: undefined,
    cacheWrite: undefined,
    reasoning: undefined,
  });

/** Writes the counts of the last line. */
export const writeOllamaUsage = ({ input, output }: Required<Usage>): JsonObject => ({
  prompt_eval_count: input,
  prompt_eval_duration: 400_000,
  eval_count: output,
  eval_duration: 500_000,
});

/** Parses a `done_reason`. Ollama reports `stop` for tool calls too, and versions before `done_reason` existed report none. */
export function parseOllamaFinish(reason: string | undefined, hasCalls: boolean): FinishReason {
  if (reason === 'length') return 'length';
  if (reason !== undefined && reason !== 'stop') return 'other';
  return hasCalls ? 'tool-calls' : 'stop';
}

/** The `done_reason` of each finish reason. */
export const ollamaFinishNames: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'tool-calls': 'stop',
  length: 'length',
  refusal: 'stop',
  filtered: 'stop',
  other: 'load',
};
