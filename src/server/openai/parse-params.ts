// Parses the parameters of an OpenAI request beside its messages: sampling, tools, tool choice, response format; rejects what is not supported.
import { toolDefinitionError, createOutputSchema, parseAnswer, createValidator } from '../../agent/index.ts';
import {
  FairleadError,
  isObject,
  type Json,
  type JsonObject,
  type ModelSettings,
  type ToolChoice,
  type ToolSpec,
} from '../../core/index.ts';
import { measureSchema } from '../../tools/index.ts';
import { tryParseJson } from '../../wire/index.ts';
import { createHttpError, throwInvalidParam } from '../http/errors.ts';

/** Whether a field is absent. */
export const isNullish = (value: unknown): value is undefined | null => value === undefined || value === null;

const isEmpty = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

const isTextOnly = (value: Json): boolean => Array.isArray(value) && value.every((each) => each === 'text');

/** Unsupported fields, and the values of each that change nothing and are accepted. */
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

const unsupportedHints: Readonly<Record<string, string>> = {
  n: 'Each request is one run: send one request per response.',
  functions: 'Use `tools`.',
  function_call: 'Use `tool_choice`.',
  conversation: 'Use `previous_response_id`.',
};

const paramTypes: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  stream: 'boolean',
  stream_options: 'object',
  instructions: 'string',
  previous_response_id: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  reasoning: 'object',
};

/** Throws 400 if a field is not supported or has another type. */
export function assertSupportedParams(request: JsonObject): void {
  for (const [name, isHarmless] of Object.entries(unsupportedParams)) {
    const value = request[name];
    if (isNullish(value) || isHarmless(value)) continue;
    throwInvalidParam(name, `\`${name}\` is not supported.`, unsupportedHints[name]);
  }
  for (const [name, type] of Object.entries(paramTypes)) {
    const value = request[name];
    if (isNullish(value) || (type === 'object' ? isObject(value) : typeof value === type)) continue;
    throwInvalidParam(name, `\`${name}\` must be ${type === 'object' ? 'an object' : `a ${type}`}.`);
  }
}

const efforts: Readonly<Record<string, ModelSettings['reasoning']>> = {
  none: 'none',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};

/** Parses the model settings. */
export function parseSampling(request: JsonObject): ModelSettings {
  const { reasoning } = request;
  const effort = request['reasoning_effort'] ?? (isObject(reasoning) ? reasoning['effort'] : undefined);
  if (!isNullish(effort) && (typeof effort !== 'string' || !Object.hasOwn(efforts, effort)))
    throwInvalidParam(
      'reasoning_effort' in request ? 'reasoning_effort' : 'reasoning.effort',
      `Unknown reasoning effort: ${JSON.stringify(effort)}.`,
    );
  const settings = {
    temperature: parseNumberParam(request, 'temperature', 0, 2),
    topP: parseNumberParam(request, 'top_p', 0, 1),
    seed: parseIntegerParam(request, 'seed', Number.MIN_SAFE_INTEGER),
    maxOutputTokens:
      parseIntegerParam(request, 'max_completion_tokens', 1) ??
      parseIntegerParam(request, 'max_tokens', 1) ??
      parseIntegerParam(request, 'max_output_tokens', 1),
    reasoning: typeof effort === 'string' ? efforts[effort] : undefined,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function parseNumberParam(request: JsonObject, name: string, min: number, max: number): number | undefined {
  const value = request[name];
  if (isNullish(value)) return undefined;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  return throwInvalidParam(name, `\`${name}\` must be a number from ${min} to ${max}.`);
}

function parseIntegerParam(request: JsonObject, name: string, min: number): number | undefined {
  const value = request[name];
  if (isNullish(value)) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= min) return Number(value);
  return throwInvalidParam(name, `\`${name}\` must be an integer${min > 0 ? ` of at least ${min}` : ''}.`);
}

/** The tools that the client runs. */
export type ClientTools = {
  readonly tools: readonly ToolSpec[];
  readonly choice: ToolChoice;
  /** The model may make one call per response. */
  readonly single: boolean;
};

/** Parses tools and tool choice. With the choice `none` the tools are left out, so that the model cannot call them. */
export function parseClientTools(request: JsonObject): ClientTools {
  const list = request['tools'];
  if (!isNullish(list) && !Array.isArray(list)) throwInvalidParam('tools', '`tools` must be an array.');
  const listed = isNullish(list) ? [] : (list as readonly Json[]);
  if (listed.length > maxTools) throwInvalidParam('tools', `\`tools\` has more than ${maxTools} tools.`);
  const fields = listed.map(parseToolFields);
  const names = new Set<string>();
  for (const { name } of fields) {
    if (names.has(name)) throwInvalidParam('tools', `Duplicate tool: ${name}.`);
    names.add(name);
  }
  assertToolSchemas(fields);
  const tools = fields.map(({ name, description, input }): ToolSpec => ({ name, description, input }));
  const choice = parseToolChoice(request['tool_choice'], tools);
  const single = request['parallel_tool_calls'] === false;
  return choice === 'none' ? { tools: [], choice: 'auto', single } : { tools, choice, single };
}

const maxTools = 512;
/** Bounds the time to compile the schemas of all tools: one schema has a bound of its own. */
const maxToolSchemas = 10_000;

/** A tool of a request, and the parameter that its schema is in. */
type ToolFields = ToolSpec & { readonly param: string };

function assertToolSchemas(tools: readonly ToolFields[]): void {
  let schemas = 0;
  for (const { input, param } of tools) {
    const size = measureSchema(input, JSON.stringify(input).length);
    schemas += typeof size === 'string' ? 0 : size.schemas;
    if (schemas > maxToolSchemas)
      throwInvalidParam('tools', `The schemas of \`tools\` have more than ${maxToolSchemas} nested schemas.`);
    rethrowInvalidSchema(param, () => createValidator(input));
  }
}

function parseToolFields(tool: Json, i: number): ToolFields {
  const param = `tools[${i}]`;
  if (!isObject(tool)) return throwInvalidParam(param, 'A tool must be an object.');
  if (tool['type'] !== 'function')
    return throwInvalidParam(
      `${param}.type`,
      `Unsupported tool type: ${JSON.stringify(tool['type'])}. Only function tools are supported.`,
    );
  // Chat completions nest the fields in `function`; responses do not.
  const isNested = 'function' in tool;
  const fields = isNested ? tool['function'] : tool;
  const at = isNested ? `${param}.function` : param;
  if (!isObject(fields)) return throwInvalidParam(at, 'A function must be an object.');
  const { name, description, parameters } = fields;
  const input = isNullish(parameters) ? { type: 'object', properties: {} } : parameters;
  if (!isObject(input)) return throwInvalidParam(`${at}.parameters`, '`parameters` must be a JSON Schema.');
  const spec: ToolFields = {
    param: `${at}.parameters`,
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' && description.trim() !== '' ? description : `Calls ${String(name)}.`,
    input,
  };
  const problem = toolDefinitionError({ ...spec, effect: 'external', execute: () => undefined });
  if (problem !== undefined) throwInvalidParam(`${at}.name`, `Invalid tool ${JSON.stringify(name)}: ${problem}.`);
  return spec;
}

function parseToolChoice(choice: Json | undefined, tools: readonly ToolSpec[]): ToolChoice {
  const param = 'tool_choice';
  if (isNullish(choice) || choice === 'auto' || choice === 'none') return choice ?? 'auto';
  if (choice === 'required') {
    if (tools.length === 0) throwInvalidParam(param, '`tool_choice` is required, but `tools` is empty.');
    return choice;
  }
  const { type, name, function: inner } = isObject(choice) ? choice : {};
  const tool = isObject(inner) ? inner['name'] : name;
  if (type !== 'function' || typeof tool !== 'string')
    return throwInvalidParam(param, '`tool_choice` must be auto, none, required or a function.');
  if (!tools.some((each) => each.name === tool))
    throwInvalidParam(param, `Unknown tool in \`tool_choice\`: ${JSON.stringify(tool)}.`);
  return { tool };
}

/** The JSON schema of the response. */
export type ResponseFormat = {
  readonly schema: JsonObject;
  /** Returns the response as plain JSON; throws if it does not match the schema. */
  normalize(text: string): string;
};

/** Parses the response format; undefined if any text is accepted. */
export function parseResponseFormat(request: JsonObject): ResponseFormat | undefined {
  const { response_format: chat, text } = request;
  const responses = isObject(text) ? text['format'] : undefined;
  const param = isNullish(responses) ? 'response_format' : 'text.format';
  const format = isNullish(responses) ? chat : responses;
  if (isNullish(format)) return undefined;
  if (!isObject(format)) return throwInvalidParam(param, `\`${param}\` must be an object.`);
  const { type } = format;
  if (type === 'text') return undefined;
  if (type === 'json_object') return createResponseFormat({ type: 'object' }, param);
  if (type !== 'json_schema')
    return throwInvalidParam(`${param}.type`, `Unknown response format: ${JSON.stringify(type)}.`);
  const container = param === 'response_format' ? format['json_schema'] : format;
  const schema = isObject(container) ? (container['schema'] ?? { type: 'object' }) : undefined;
  const field = param === 'response_format' ? `${param}.json_schema.schema` : `${param}.schema`;
  if (!isObject(schema)) return throwInvalidParam(field, `\`${field}\` must be a JSON Schema.`);
  return createResponseFormat(schema, field);
}

const maxKnownFormats = 8;
const knownFormats = new Map<string, ResponseFormat>();

/** Returns the response format of a schema. The latest are kept: a schema that took too long for one response is not tried at once for the next. */
export function createResponseFormat(schema: JsonObject, param = 'schema'): ResponseFormat {
  const key = JSON.stringify(schema);
  const known = knownFormats.get(key) ?? compileResponseFormat(schema, param);
  knownFormats.delete(key);
  knownFormats.set(key, known);
  const [oldest] = knownFormats.keys();
  if (knownFormats.size > maxKnownFormats && oldest !== undefined) knownFormats.delete(oldest);
  return known;
}

function compileResponseFormat(schema: JsonObject, param: string): ResponseFormat {
  const output = rethrowInvalidSchema(param, () => createOutputSchema(schema));
  return {
    schema,
    normalize(text) {
      const problem = output.validate(text);
      if (problem !== undefined)
        throw createHttpError('server/no-answer', `The response does not match the requested schema: ${problem}`);
      // Models often put a code fence around JSON.
      return tryParseJson(text) === undefined ? JSON.stringify(parseAnswer(text)) : text;
    },
  };
}

function rethrowInvalidSchema<T>(param: string, create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return throwInvalidParam(param, error.message);
  }
}
