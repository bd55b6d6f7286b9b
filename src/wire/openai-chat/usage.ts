// Token counts and cost in OpenAI chat completions, in all spellings that compatible servers use.
import type { JsonObject, Usage } from '../../core/index.ts';
import { asObject, asObjectArray, numberOrUndefined, type WireObject } from '../fields.ts';
import { omitUnknownCounts, type ReportedUsage } from '../usage.ts';

/** Parses a `usage` object. */
export function parseChatUsage(usage: WireObject): ReportedUsage {
  const prompt = asObject(usage['prompt_tokens_details']);
  const completion = asObject(usage['completion_tokens_details']);
  const usd = numberOrUndefined(usage['cost']);
  const counts = omitUnknownCounts({
    input: numberOrUndefined(usage['prompt_tokens']),
    output: numberOrUndefined(usage['completion_tokens']),
    cacheRead:
      numberOrUndefined(prompt['cached_tokens']) ??
      numberOrUndefined(usage['prompt_cache_hit_tokens']) ??
      numberOrUndefined(usage['cached_tokens']) ??
      numberOrUndefined(usage['num_cached_tokens']),
    cacheWrite: numberOrUndefined(prompt['cache_write_tokens']),
    reasoning: numberOrUndefined(completion['reasoning_tokens']) ?? numberOrUndefined(usage['reasoning_tokens']),
  });
  return { usage: counts, ...(usd === undefined ? {} : { usd }) };
}

/** Returns the usage in a completion or chunk: at the top level, in `x_groq` (Groq) or in the first choice (Moonshot). */
export function findChatUsage(body: WireObject): ReportedUsage | undefined {
  const [choice] = asObjectArray(body['choices']);
  const found = [choice?.['usage'], asObject(body['x_groq'])['usage'], body['usage']].find(
    (each) => typeof each === 'object' && each !== null,
  );
  return found === undefined ? undefined : parseChatUsage(asObject(found));
}

/** Writes a `usage` object. */
export const writeChatUsage = ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
}: Required<Usage>): ChatUsageBody => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite ? { cache_write_tokens: cacheWrite } : {}) },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

type ChatUsageBody = JsonObject & {
  readonly prompt_tokens_details: JsonObject;
  readonly completion_tokens_details: JsonObject;
};
