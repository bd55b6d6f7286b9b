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
import { wrong } from './errors.ts';
import { isAbsent } from './fields.ts';

/** What a client wants of its tools. */
export type ClientTools = {
  readonly tools: readonly ToolSpec[];
  readonly choice: ToolChoice;
  /** At most one call at a time. */
  readonly single: boolean;
};

/** The tools of a request. Those of a client that wants none called are left out: the model could only be tempted. */
export function toolsIn(request: JsonObject): ClientTools {
  const given = request['tools'];
  if (!isAbsent(given) && !Array.isArray(given)) wrong('tools', '`tools` has to be a list.');
  const all = isAbsent(given) ? [] : (given as readonly Json[]).map(toolAt);
  const twice = all.find(({ name }, i) => all.findIndex((each) => each.name === name) !== i);
  if (twice) wrong('tools', `There are two tools named ${twice.name}.`);
  const choice = choiceIn(request['tool_choice'], all);
  const tools = choice === 'none' ? [] : all;
  return { tools, choice: choice === 'none' ? 'auto' : choice, single: request['parallel_tool_calls'] === false };
}

function toolAt(given: Json, i: number): ToolSpec {
  const param = `tools[${i}]`;
  if (!isObject(given)) return wrong(param, 'A tool has to be an object.');
  if (given['type'] !== 'function')
    return wrong(
      `${param}.type`,
      `Only tools of the type function are taken here, not ${JSON.stringify(given['type'])}.`,
    );
  // Chat completions have a name, a description and parameters one level deeper than responses.
  const inside = 'function' in given ? given['function'] : given;
  const at = 'function' in given ? `${param}.function` : param;
  if (!isObject(inside)) return wrong(at, 'A function has to be an object.');
  const { name, description, parameters } = inside;
  const input = isAbsent(parameters) ? { type: 'object', properties: {} } : parameters;
  if (!isObject(input)) return wrong(`${at}.parameters`, 'Parameters have to be a JSON Schema.');
  const spec: ToolSpec = {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' && description.trim() !== '' ? description : `Calls ${String(name)}.`,
    input,
  };
  const fault = toolDefinitionError({ ...spec, effect: 'outside', execute: () => undefined });
  if (fault !== undefined) wrong(`${at}.name`, `The tool ${JSON.stringify(name)} cannot be used: ${fault}.`);
  mustBeSchema(spec.input, `${at}.parameters`);
  return spec;
}

function mustBeSchema(schema: JsonObject, param: string): void {
  try {
    createValidator(schema);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    wrong(param, error.message);
  }
}

function choiceIn(given: Json | undefined, tools: readonly ToolSpec[]): ToolChoice {
  const param = 'tool_choice';
  if (isAbsent(given) || given === 'auto' || given === 'none') return given ?? 'auto';
  if (given === 'required') {
    if (tools.length === 0) wrong(param, 'A call is wanted, but there are no `tools`.');
    return given;
  }
  const { type, name, function: inner } = isObject(given) ? given : {};
  const tool = isObject(inner) ? inner['name'] : name;
  if (type !== 'function' || typeof tool !== 'string')
    return wrong(param, '`tool_choice` has to be auto, none, required or the name of a function.');
  if (!tools.some((each) => each.name === tool)) wrong(param, `There is no tool ${JSON.stringify(tool)} in \`tools\`.`);
  return { tool };
}
