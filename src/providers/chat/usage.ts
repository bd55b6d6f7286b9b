// Token counts and cost as chat servers state them, in the many places they put them.
import { isObject, type Usage } from '../../core/index.ts';

/** Counts, and the cost where the server names one in US dollars. */
export type ChatUsage = { readonly usage: Usage; readonly usd?: number };

/** Reads a `usage` object; what it does not state stays unknown. */
export function chatUsage(value: { readonly [key: string]: unknown }): ChatUsage {
  const prompt = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const completion = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {};
  const counts = {
    input: count(value['prompt_tokens']),
    output: count(value['completion_tokens']),
    cacheRead:
      count(prompt['cached_tokens']) ??
      count(value['prompt_cache_hit_tokens']) ??
      count(value['cached_tokens']) ??
      count(value['num_cached_tokens']),
    cacheWrite: count(prompt['cache_write_tokens']),
    reasoning: count(completion['reasoning_tokens']) ?? count(value['reasoning_tokens']),
  };
  const usd = count(value['cost']);
  return { usage: known(counts), ...(usd === undefined ? {} : { usd }) };
}

const count = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const known = (counts: { readonly [key in keyof Usage]: number | undefined }): Usage =>
  Object.fromEntries(Object.entries(counts).filter(([, each]) => each !== undefined));
