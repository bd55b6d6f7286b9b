// Token counts of Anthropic messages.
import type { JsonObject, Usage } from '../../core/index.ts';
import { asObject, numberOrUndefined, type WireObject } from '../fields.ts';
import { omitUnknownCounts } from '../usage.ts';

/** Parses a `usage` object. Anthropic counts tokens read from and written to the cache apart from `input_tokens`; Fairlead's input includes them. */
export function parseAnthropicUsage(usage: WireObject): Usage {
  const input = numberOrUndefined(usage['input_tokens']);
  const cacheRead = numberOrUndefined(usage['cache_read_input_tokens']);
  const cacheWrite = numberOrUndefined(usage['cache_creation_input_tokens']);
  return omitUnknownCounts({
    input: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output: numberOrUndefined(usage['output_tokens']),
    cacheRead,
    cacheWrite,
    reasoning: numberOrUndefined(asObject(usage['output_tokens_details'])['thinking_tokens']),
  });
}

/** Writes a `usage` object. */
export const writeAnthropicUsage = ({ input, output, cacheRead, cacheWrite }: Required<Usage>): JsonObject => ({
  input_tokens: input - cacheRead - cacheWrite,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  output_tokens: output,
});
