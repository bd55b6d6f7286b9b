// Token counts of OpenAI responses.
import type { JsonObject, Usage } from '../../core/index.ts';
import { asObject, numberOrUndefined, type WireObject } from '../fields.ts';
import { omitUnknownCounts } from '../usage.ts';

/** Parses a `usage` object; its input count includes cached tokens. */
export function parseResponsesUsage(usage: WireObject): Usage {
  const input = asObject(usage['input_tokens_details']);
  return omitUnknownCounts({
    input: numberOrUndefined(usage['input_tokens']),
    output: numberOrUndefined(usage['output_tokens']),
    cacheRead: numberOrUndefined(input['cached_tokens']),
    cacheWrite: numberOrUndefined(input['cache_write_tokens']),
    reasoning: numberOrUndefined(asObject(usage['output_tokens_details'])['reasoning_tokens']),
  });
}

/** Writes a `usage` object. */
export const writeResponsesUsage = ({ input, output, cacheRead, reasoning }: Required<Usage>): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cacheRead },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
