// Validates requests as OpenAI's chat completions API and compatible servers do.
import { createToolCallTracker, type ToolCallTracker } from './tool-call-order.ts';
import {
  assertObjectSchema,
  assertArray,
  assertNonEmptyArray,
  failValidation,
  assertObject,
  assertUnique,
  assertOneOf,
  formatValue,
  assertToolName,
  assertInRange,
  assertNonEmptyString,
  type RequestObject,
} from './assertions.ts';

const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const roles = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Throws unless this is a valid chat completions request. */
export function validateChatRequest(body: RequestObject): void {
  assertNonEmptyString(body['model'], 'model');
  assertInRange(body['temperature'], 0, 2, 'temperature');
  const offered = validateFunctionTools(body['tools']);
  validateToolChoice(body, offered);
  if (body['stream_options'] !== undefined && body['stream'] !== true)
    failValidation('stream_options', 'is only allowed with "stream": true.');
  const open = createToolCallTracker();
  let talking = false;
  for (const [i, value] of assertNonEmptyArray(body['messages'], 'messages').entries()) {
    const where = `messages[${i}]`;
    const message = assertObject(value, where);
    const role = assertOneOf(message['role'], roles, `${where}.role`);
    if (role === 'tool') {
      open.result(assertNonEmptyString(message['tool_call_id'], `${where}.tool_call_id`), where);
      validateToolContent(message['content'], `${where}.content`);
      continue;
    }
    open.assertNoneOpen(where);
    const opening = role === 'system' || role === 'developer';
    if (opening && talking)
      failValidation(where, `is a ${role} message after the conversation began; many servers refuse that.`);
    talking ||= !opening;
    if (role === 'assistant') validateAssistantMessage(message, where, open);
    else validateContent(message['content'], `${where}.content`);
  }
  open.assertNoneOpen('The end of the conversation');
}

function validateAssistantMessage(message: RequestObject, where: string, open: ToolCallTracker): void {
  if (message['tool_calls'] === undefined) return validateContent(message['content'], `${where}.content`);
  for (const [i, value] of assertNonEmptyArray(message['tool_calls'], `${where}.tool_calls`).entries()) {
    const here = `${where}.tool_calls[${i}]`;
    const call = assertObject(value, here);
    assertOneOf(call['type'], ['function'], `${here}.type`);
    const { name, arguments: given } = assertObject(call['function'], `${here}.function`);
    assertToolName(name, toolNamePattern, `${here}.function.name`);
    assertJsonText(given, `${here}.function.arguments`);
    open.call(assertNonEmptyString(call['id'], `${here}.id`), here);
  }
  if (message['content'] !== null && message['content'] !== undefined && message['content'] !== '')
    validateContent(message['content'], `${where}.content`);
}

/** Asserts that arguments are JSON text. */
export function assertJsonText(value: unknown, where: string): void {
  const text = assertNonEmptyString(value, where);
  try {
    JSON.parse(text);
  } catch {
    failValidation(where, `is not JSON: ${formatValue(text.slice(0, 100))}.`);
  }
}

function validateContent(value: unknown, where: string): void {
  if (!Array.isArray(value)) return void assertNonEmptyString(value, where);
  for (const [i, part] of assertNonEmptyArray(value, where).entries()) {
    const { type, text } = assertObject(part, `${where}[${i}]`);
    assertNonEmptyString(type, `${where}[${i}].type`);
    if (type === 'text') assertNonEmptyString(text, `${where}[${i}].text`);
  }
}

/** The result of a tool may be empty, and may contain only text. */
function validateToolContent(value: unknown, where: string): void {
  if (value === '') return;
  validateContent(value, where);
  for (const [i, part] of (Array.isArray(value) ? value : []).entries())
    assertOneOf(assertObject(part, `${where}[${i}]`)['type'], ['text'], `${where}[${i}].type`);
}

/** Asserts that tools are valid in the chat format, and returns their names. */
export function validateFunctionTools(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  if (value === undefined) return seen;
  for (const [i, tool] of assertNonEmptyArray(value, 'tools').entries()) {
    const where = `tools[${i}]`;
    const { type, function: described } = assertObject(tool, where);
    // A type with a prefix is a tool that the service runs.
    if (typeof type === 'string' && type.includes(':')) continue;
    assertOneOf(type, ['function'], `${where}.type`);
    validateFunction(assertObject(described, `${where}.function`), `${where}.function`, seen);
  }
  return seen;
}

/** Asserts that the definition of a function is valid. */
export function validateFunction(described: RequestObject, where: string, seen: Set<string>): void {
  assertUnique(seen, assertToolName(described['name'], toolNamePattern, `${where}.name`), `${where}.name`);
  if (described['parameters'] === undefined) return;
  const schema = assertObjectSchema(described['parameters'], `${where}.parameters`);
  if (described['strict'] === true) validateStrictSchema(schema, `${where}.parameters`);
}

function validateStrictSchema(schema: RequestObject, where: string): void {
  if (schema['additionalProperties'] !== false)
    failValidation(`${where}.additionalProperties`, 'must be false for a strict tool.');
  const required = assertArray(schema['required'] ?? [], `${where}.required`);
  const optional = Object.keys(assertObject(schema['properties'] ?? {}, `${where}.properties`)).find(
    (key) => !required.includes(key),
  );
  if (optional !== undefined)
    failValidation(`${where}.required`, `must contain ${optional}; a strict tool requires all its properties.`);
}

/** Asserts that tool_choice names an offered tool. */
export function validateToolChoice(body: RequestObject, offered: ReadonlySet<string>): void {
  const choice = body['tool_choice'];
  for (const key of ['tool_choice', 'parallel_tool_calls'])
    if (body[key] !== undefined && body['tools'] === undefined)
      failValidation(key, 'is only allowed together with tools.');
  if (choice === undefined) return;
  if (typeof choice === 'string') return void assertOneOf(choice, ['auto', 'none', 'required'], 'tool_choice');
  const {
    function: named,
    name = (named as RequestObject | undefined)?.['name'],
    type,
  } = assertObject(choice, 'tool_choice');
  if (type === 'function' && !offered.has(String(name)))
    failValidation('tool_choice', `names ${formatValue(name)}, which is not among the tools.`);
}
