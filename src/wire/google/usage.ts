// Token counts of Google generateContent responses.
import type { JsonObject, Usage } from '../../core/index.ts';
import { numberOrUndefined, type WireObject } from '../fields.ts';
import { omitUnknownCounts } from '../usage.ts';

/** Parses a `usageMetadata` object. Thinking is output; text that a tool of the service read is input. */
export function parseGoogleUsage(usage: WireObject): Usage {
  const prompt = numberOrUndefined(usage['promptTokenCount']);
  const input = prompt === undefined ? undefined : prompt + (numberOrUndefined(usage['toolUsePromptTokenCount']) ?? 0);
  const reasoning = numberOrUndefined(usage['thoughtsTokenCount']);
  const candidates = numberOrUndefined(usage['candidatesTokenCount']);
  const total = numberOrUndefined(usage['totalTokenCount']);
  // The service omits counts of zero: then the output is the total without the input.
  const rest = total === undefined || input === undefined ? undefined : Math.max(0, total - input);
  return omitUnknownCounts({
    input,
    output: candidates === undefined && reasoning === undefined ? rest : (candidates ?? 0) + (reasoning ?? 0),
    cacheRead: numberOrUndefined(usage['cachedContentTokenCount']),
    cacheWrite: undefined,
    reasoning,
  });
}

/** Writes a `usageMetadata` object; the output counts are in the last event of a stream only. */
export const writeGoogleUsage = (
  { input, output, cacheRead, reasoning }: Required<Usage>,
  isLast: boolean,
): JsonObject => ({
  promptTokenCount: input,
  ...(isLast ? { candidatesTokenCount: output - reasoning } : {}),
  ...(isLast && reasoning ? { thoughtsTokenCount: reasoning } : {}),
  ...(cacheRead ? { cachedContentTokenCount: cacheRead } : {}),
  totalTokenCount: input + (isLast ? output : 0),
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
});
