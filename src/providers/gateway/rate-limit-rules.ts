// Rate limits by provider, model and tenant: which rules apply to a request, and which requests share them.
import type { RateLimits } from './rate-limiter.ts';

/** Requests and tokens per minute of what the rule names; a rule that names nothing is for all requests. */
export type RateLimitRule = RateLimits & {
  /** A provider, such as `anthropic`; its models share the limit. */
  readonly provider?: string;
  /** A model of the provider. */
  readonly model?: string;
  /** A tenant of a fleet; `*` is a limit for each tenant by itself. */
  readonly tenant?: string;
};

/** A rule that applies, and the key under which requests share its limits. */
export type AppliedRateLimit = { readonly key: string; readonly limits: RateLimits };

/**
 * Returns the rules that apply to a request: the most specific one without a tenant, and the most specific one for its tenant. A model
 * is more specific than its provider, and the name of a tenant more than `*`.
 */
export function selectRateLimits(
  rules: readonly RateLimitRule[],
  request: { readonly provider: string; readonly model: string; readonly tenant: string },
): readonly AppliedRateLimit[] {
  const { provider, model, tenant } = request;
  const matching = rules.filter(
    (rule) =>
      (rule.provider ?? provider) === provider &&
      (rule.model ?? model) === model &&
      (rule.tenant === undefined || rule.tenant === '*' || rule.tenant === tenant),
  );
  return [false, true].flatMap((isOfTenant) => {
    const [first] = matching
      .filter((rule) => (rule.tenant !== undefined) === isOfTenant)
      .toSorted((a, b) => specificity(b) - specificity(a));
    if (!first) return [];
    const names = [isOfTenant ? tenant : '', first.provider ?? '', first.model ?? ''];
    return [{ key: `rule ${JSON.stringify(names)}`, limits: first }];
  });
}

const specificity = ({ provider, model, tenant }: RateLimitRule): number =>
  (tenant === undefined || tenant === '*' ? 0 : 4) + (model === undefined ? 0 : 2) + (provider === undefined ? 0 : 1);

/** Parses rate limits as a config file has them; rejects with one sentence that names the place. */
export const readRateLimits = async (value: unknown, where?: string): Promise<readonly RateLimitRule[]> =>
  (await import('./parse-rate-limits.ts')).parseRateLimits(value, where);
