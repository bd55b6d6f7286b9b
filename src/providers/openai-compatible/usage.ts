// Token counts and cost as chat servers state them, in the many places they put them.
import { isObject, type Usage } from '../../core/index.ts';

/** Counts, and the cost where the server names one in US dollars. */
export type ChatUsage = { readonly usage: Usage; readonly usd?: number };

/** Reads a `usage` object; what it does not state stays unknown. */
export function parseChatUsage(value: { readonly [key: string]: unknown }): ChatUsage {
  const prompt = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const completion = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {};
  const counts = {
    input: numberOrUndefined(value['prompt_tokens']),
    output: numberOrUndefined(value['completion_tokens']),
    cacheRead:
      numberOrUndefined(prompt['cached_tokens']) ??
      numberOrUndefined(value['prompt_cache_hit_tokens']) ??
      numberOrUndefined(value['cached_tokens']) ??
      numberOrUndefined(value['num_cached_tokens']),
    cacheWrite: numberOrUndefined(prompt['cache_write_tokens']),
    reasoning: numberOrUndefined(completion['reasoning_tokens']) ?? numberOrUndefined(value['reasoning_tokens']),
  };
  const usd = numberOrUndefined(value['cost']);
  return { usage: omitUnknownCounts(counts), ...(usd === undefined ? {} : { usd }) };
}

const numberOrUndefined = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const omitUnknownCounts = (counts: { readonly [key in keyof Usage]: number | undefined }): Usage =>
  Object.fromEntries(Object.entries(counts).filter(([, each]) => each !== undefined));
