// The tools that a client brings along, and which of them the model has to call.
import { toolDefinitionError } from '../../agent/define-tool.ts';
import { createValidator } from '../../agent/schema.ts';
import {
  FairleadError,
  isObject,
  type Json,
  type JsonObject,
  type ToolChoice,
  type ToolSpec,
} from '../../core/index.ts';
import { throwInvalidParam } from './errors.ts';
import { isNullish } from './request-params.ts';

/** What a client wants of its tools. */
export type ClientTools = {
  readonly tools: readonly ToolSpec[];
  readonly choice: ToolChoice;
  /** At most one call at a time. */
  readonly single: boolean;
};

/** The tools of a request. Those of a client that wants none called are left out: the model could only be tempted. */
export function parseClientTools(request: JsonObject): ClientTools {
  const given = request['tools'];
  if (!isNullish(given) && !Array.isArray(given)) throwInvalidParam('tools', '`tools` has to be a list.');
  const all = isNullish(given) ? [] : (given as readonly Json[]).map(parseClientTool);
  const twice = all.find(({ name }, i) => all.findIndex((each) => each.name === name) !== i);
  if (twice) throwInvalidParam('tools', `There are two tools named ${twice.name}.`);
  const choice = parseToolChoice(request['tool_choice'], all);
  const tools = choice === 'none' ? [] : all;
  return { tools, choice: choice === 'none' ? 'auto' : choice, single: request['parallel_tool_calls'] === false };
}

function parseClientTool(given: Json, i: number): ToolSpec {
  const param = `tools[${i}]`;
  if (!isObject(given)) return throwInvalidParam(param, 'A tool has to be an object.');
  if (given['type'] !== 'function')
    return throwInvalidParam(
      `${param}.type`,
      `Only tools of the type function are taken here, not ${JSON.stringify(given['type'])}.`,
    );
  // Chat completions have a name, a description and parameters one level deeper than responses.
  const inside = 'function' in given ? given['function'] : given;
  const at = 'function' in given ? `${param}.function` : param;
  if (!isObject(inside)) return throwInvalidParam(at, 'A function has to be an object.');
  const { name, description, parameters } = inside;
  const input = isNullish(parameters) ? { type: 'object', properties: {} } : parameters;
  if (!isObject(input)) return throwInvalidParam(`${at}.parameters`, 'Parameters have to be a JSON Schema.');
  const spec: ToolSpec = {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' && description.trim() !== '' ? description : `Calls ${String(name)}.`,
    input,
  };
  const fault = toolDefinitionError({ ...spec, effect: 'external', execute: () => undefined });
  if (fault !== undefined)
    throwInvalidParam(`${at}.name`, `The tool ${JSON.stringify(name)} cannot be used: ${fault}.`);
  assertJsonSchema(spec.input, `${at}.parameters`);
  return spec;
}

function assertJsonSchema(schema: JsonObject, param: string): void {
  try {
    createValidator(schema);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    throwInvalidParam(param, error.message);
  }
}

function parseToolChoice(given: Json | undefined, tools: readonly ToolSpec[]): ToolChoice {
  const param = 'tool_choice';
  if (isNullish(given) || given === 'auto' || given === 'none') return given ?? 'auto';
  if (given === 'required') {
    if (tools.length === 0) throwInvalidParam(param, 'A call is wanted, but there are no `tools`.');
    return given;
  }
  const { type, name, function: inner } = isObject(given) ? given : {};
  const tool = isObject(inner) ? inner['name'] : name;
  if (type !== 'function' || typeof tool !== 'string')
    return throwInvalidParam(param, '`tool_choice` has to be auto, none, required or the name of a function.');
  if (!tools.some((each) => each.name === tool))
    throwInvalidParam(param, `There is no tool ${JSON.stringify(tool)} in \`tools\`.`);
  return { tool };
}
