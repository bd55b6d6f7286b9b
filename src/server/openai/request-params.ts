// The fields of a request beside what is said: those that could not be kept are refused by name, those that a model understands go to it.
import { isObject, type Json, type JsonObject, type ModelSettings } from '../../core/index.ts';
import { throwInvalidParam } from './errors.ts';

/** Nobody said anything. */
export const isNullish = (value: unknown): value is undefined | null => value === undefined || value === null;

const isEmpty = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

const isTextOnly = (value: Json): boolean => Array.isArray(value) && value.every((each) => each === 'text');

/** What is not to be had here, and what of it does no harm. */
const unsupportedParams: Readonly<Record<string, (value: Json) => boolean>> = {
  n: (value) => value === 1,
  functions: isEmpty,
  function_call: (value) => value === 'none' || value === 'auto',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: isEmpty,
  modalities: isTextOnly,
  audio: isEmpty,
  web_search_options: () => false,
  background: (value) => value === false,
  conversation: () => false,
  prompt: () => false,
  max_tool_calls: () => false,
};

/** What a field has to be. */
const paramTypes: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  stream: 'boolean',
  stream_options: 'object',
  instructions: 'string',
  previous_response_id: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  reasoning: 'object',
};

/** Throws over a field whose promise could not be kept. */
export function assertSupportedParams(request: JsonObject): void {
  for (const [name, isHarmless] of Object.entries(unsupportedParams)) {
    const value = request[name];
    if (isNullish(value) || isHarmless(value)) continue;
    throwInvalidParam(name, `\`${name}\` is not to be had here.`, hints[name]);
  }
  for (const [name, kind] of Object.entries(paramTypes)) {
    const value = request[name];
    if (isNullish(value) || (kind === 'object' ? isObject(value) : typeof value === kind)) continue;
    throwInvalidParam(name, `\`${name}\` has to be ${kind === 'object' ? 'an object' : `a ${kind}`}.`);
  }
}

const hints: Readonly<Record<string, string>> = {
  n: 'Each request is one run: ask as often as you want answers.',
  functions: 'Give the same as `tools`.',
  function_call: 'Give the same as `tool_choice`.',
  conversation: 'Go on with `previous_response_id`.',
};

const efforts: Readonly<Record<string, ModelSettings['reasoning']>> = {
  none: 'none',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};

/** How the model is to answer, as far as it can be told. */
export function parseSampling(request: JsonObject): ModelSettings {
  const { reasoning } = request;
  const effort = request['reasoning_effort'] ?? (isObject(reasoning) ? reasoning['effort'] : undefined);
  if (!isNullish(effort) && (typeof effort !== 'string' || !Object.hasOwn(efforts, effort)))
    throwInvalidParam(
      'reasoning_effort' in request ? 'reasoning_effort' : 'reasoning.effort',
      `There is no effort ${JSON.stringify(effort)}.`,
    );
  const found = {
    temperature: parseNumberParam(request, 'temperature', 0, 2),
    topP: parseNumberParam(request, 'top_p', 0, 1),
    seed: parseIntegerParam(request, 'seed', Number.MIN_SAFE_INTEGER),
    maxOutputTokens:
      parseIntegerParam(request, 'max_completion_tokens', 1) ??
      parseIntegerParam(request, 'max_tokens', 1) ??
      parseIntegerParam(request, 'max_output_tokens', 1),
    reasoning: typeof effort === 'string' ? efforts[effort] : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function parseNumberParam(request: JsonObject, name: string, least: number, most: number): number | undefined {
  const value = request[name];
  if (isNullish(value)) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  return throwInvalidParam(name, `\`${name}\` has to be a number from ${least} to ${most}.`);
}

function parseIntegerParam(request: JsonObject, name: string, least: number): number | undefined {
  const value = request[name];
  if (isNullish(value)) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= least) return Number(value);
  return throwInvalidParam(name, `\`${name}\` has to be a whole number${least > 0 ? ` of at least ${least}` : ''}.`);
}
