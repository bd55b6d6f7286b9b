// Parses rate limits by provider, model and tenant, as a config file has them.
import { FairleadError, isObject } from '../../core/index.ts';
import { findFamily } from '../families.ts';
import type { RateLimitRule } from './rate-limit-rules.ts';

const maxRules = 1000;
const textKeys = ['provider', 'model', 'tenant'] as const;
const numberKeys = ['requestsPerMinute', 'tokensPerMinute'] as const;
const knownKeys: readonly string[] = [...textKeys, ...numberKeys];

/** Parses a list of rules; the error is one sentence that names the place and what must be there. */
export function parseRateLimits(value: unknown, where = 'rateLimits'): readonly RateLimitRule[] {
  if (!Array.isArray(value) || value.length > maxRules)
    throw badRateLimit(`${where} must be a list of at most ${maxRules} limits.`);
  const rules = value.map((each: unknown, index) => parseRule(each, `Limit ${index + 1} of ${where}`));
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const scope = JSON.stringify(textKeys.map((key) => rule[key] ?? null));
    if (seen.has(scope)) throw badRateLimit(`Limit ${index + 1} of ${where} is for the same as an earlier one.`);
    seen.add(scope);
  }
  return rules;
}

function parseRule(value: unknown, where: string): RateLimitRule {
  if (!isObject(value)) throw badRateLimit(`${where} must be an object with requestsPerMinute or tokensPerMinute.`);
  const unknown = Object.keys(value).find((key) => !knownKeys.includes(key));
  if (unknown !== undefined)
    throw badRateLimit(`${where} has the unknown key ${JSON.stringify(unknown)}; it can have ${knownKeys.join(', ')}.`);
  for (const key of textKeys)
    if (value[key] !== undefined && (typeof value[key] !== 'string' || value[key].trim() === ''))
      throw badRateLimit(`${key} of ${where} must be a name, not ${JSON.stringify(value[key])}.`);
  for (const key of numberKeys)
    if (value[key] !== undefined && !isLimit(value[key]))
      throw badRateLimit(`${key} of ${where} must be a number above 0, not ${JSON.stringify(value[key])}.`);
  const rule = value as RateLimitRule;
  if (rule.requestsPerMinute === undefined && rule.tokensPerMinute === undefined)
    throw badRateLimit(`${where} needs requestsPerMinute or tokensPerMinute.`);
  if (rule.model !== undefined && rule.provider === undefined)
    throw badRateLimit(`${where} names a model, so it must name its provider too.`);
  return rule.provider === undefined ? rule : { ...rule, provider: findFamily(rule.provider)?.name ?? rule.provider };
}

const isLimit = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 1e12;

const badRateLimit = (message: string): FairleadError =>
  new FairleadError('settings/bad-value', message, {
    blame: 'user',
    hint: 'For example { "provider": "openai", "requestsPerMinute": 60 }.',
  });
