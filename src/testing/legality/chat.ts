// What OpenAI's chat completions, and the servers that speak like it, refuse.
import { openCalls, type OpenCalls } from './calls.ts';
import {
  argumentSchema,
  array,
  filled,
  illegal,
  object,
  once,
  oneOf,
  show,
  toolName,
  within,
  words,
  type Row,
} from './demand.ts';

const names = /^[a-zA-Z0-9_-]{1,64}$/;
const roles = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Demands a legal chat completions request. */
export function chatLegal(body: Row): void {
  words(body['model'], 'model');
  within(body['temperature'], 0, 2, 'temperature');
  const offered = functionTools(body['tools']);
  choiceLegal(body, offered);
  if (body['stream_options'] !== undefined && body['stream'] !== true)
    illegal('stream_options', 'is only allowed with "stream": true.');
  const open = openCalls();
  let talking = false;
  for (const [i, value] of filled(body['messages'], 'messages').entries()) {
    const where = `messages[${i}]`;
    const message = object(value, where);
    const role = oneOf(message['role'], roles, `${where}.role`);
    if (role === 'tool') {
      open.result(words(message['tool_call_id'], `${where}.tool_call_id`), where);
      toolContent(message['content'], `${where}.content`);
      continue;
    }
    open.settled(where);
    const opening = role === 'system' || role === 'developer';
    if (opening && talking)
      illegal(where, `is a ${role} message after the conversation began; many servers refuse that.`);
    talking ||= !opening;
    if (role === 'assistant') assistant(message, where, open);
    else content(message['content'], `${where}.content`);
  }
  open.settled('The end of the conversation');
}

function assistant(message: Row, where: string, open: OpenCalls): void {
  if (message['tool_calls'] === undefined) return content(message['content'], `${where}.content`);
  for (const [i, value] of filled(message['tool_calls'], `${where}.tool_calls`).entries()) {
    const here = `${where}.tool_calls[${i}]`;
    const call = object(value, here);
    oneOf(call['type'], ['function'], `${here}.type`);
    const { name, arguments: given } = object(call['function'], `${here}.function`);
    toolName(name, names, `${here}.function.name`);
    argumentsText(given, `${here}.function.arguments`);
    open.call(words(call['id'], `${here}.id`), here);
  }
  if (message['content'] !== null && message['content'] !== undefined && message['content'] !== '')
    content(message['content'], `${where}.content`);
}

/** Demands arguments as a text of JSON. */
export function argumentsText(value: unknown, where: string): void {
  const text = words(value, where);
  try {
    JSON.parse(text);
  } catch {
    illegal(where, `is not JSON: ${show(text.slice(0, 100))}.`);
  }
}

function content(value: unknown, where: string): void {
  if (!Array.isArray(value)) return void words(value, where);
  for (const [i, part] of filled(value, where).entries()) {
    const { type, text } = object(part, `${where}[${i}]`);
    words(type, `${where}[${i}].type`);
    if (type === 'text') words(text, `${where}[${i}].text`);
  }
}

/** A tool may answer with nothing, and with nothing but text. */
function toolContent(value: unknown, where: string): void {
  if (value === '') return;
  content(value, where);
  for (const [i, part] of (Array.isArray(value) ? value : []).entries())
    oneOf(object(part, `${where}[${i}]`)['type'], ['text'], `${where}[${i}].type`);
}

/** Demands legal tools of the chat shape, and gives their names. */
export function functionTools(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  if (value === undefined) return seen;
  for (const [i, tool] of filled(value, 'tools').entries()) {
    const where = `tools[${i}]`;
    const { type, function: described } = object(tool, where);
    // A type with a prefix is a tool that the service itself runs.
    if (typeof type === 'string' && type.includes(':')) continue;
    oneOf(type, ['function'], `${where}.type`);
    functionLegal(object(described, `${where}.function`), `${where}.function`, seen);
  }
  return seen;
}

/** Demands a legal description of a function. */
export function functionLegal(described: Row, where: string, seen: Set<string>): void {
  once(seen, toolName(described['name'], names, `${where}.name`), `${where}.name`);
  if (described['parameters'] === undefined) return;
  const schema = argumentSchema(described['parameters'], `${where}.parameters`);
  if (described['strict'] === true) strictSchema(schema, `${where}.parameters`);
}

function strictSchema(schema: Row, where: string): void {
  if (schema['additionalProperties'] !== false)
    illegal(`${where}.additionalProperties`, 'must be false for a tool that is strict.');
  const required = array(schema['required'] ?? [], `${where}.required`);
  const optional = Object.keys(object(schema['properties'] ?? {}, `${where}.properties`)).find(
    (key) => !required.includes(key),
  );
  if (optional !== undefined)
    illegal(`${where}.required`, `lacks ${optional}; a strict tool requires all its properties.`);
}

/** Demands a choice among the tools that are offered. */
export function choiceLegal(body: Row, offered: ReadonlySet<string>): void {
  const choice = body['tool_choice'];
  for (const key of ['tool_choice', 'parallel_tool_calls'])
    if (body[key] !== undefined && body['tools'] === undefined) illegal(key, 'is only allowed together with tools.');
  if (choice === undefined) return;
  if (typeof choice === 'string') return void oneOf(choice, ['auto', 'none', 'required'], 'tool_choice');
  const { function: named, name = (named as Row | undefined)?.['name'], type } = object(choice, 'tool_choice');
  if (type === 'function' && !offered.has(String(name)))
    illegal('tool_choice', `names ${show(name)}, which is not among the tools.`);
}
