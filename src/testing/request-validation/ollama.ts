// Validates requests as Ollama's /api/chat does.
import { createToolCallTracker } from './tool-call-order.ts';
import { validateFunctionTools } from './openai-chat.ts';
import {
  assertArray,
  assertNonEmptyArray,
  failValidation,
  assertObject,
  assertOneOf,
  formatValue,
  assertNonEmptyString,
  type RequestObject,
} from './assertions.ts';

/** Throws unless this is a valid /api/chat request. */
export function validateOllamaRequest(body: RequestObject): void {
  assertNonEmptyString(body['model'], 'model');
  if (Array.isArray(body['tools']) ? body['tools'].length : body['tools']) validateFunctionTools(body['tools']);
  if (body['options'] !== undefined) validateOptions(assertObject(body['options'], 'options'));
  if (body['format'] !== undefined && body['format'] !== 'json') assertObject(body['format'], 'format');
  const open = createToolCallTracker();
  let waiting: string[] = [];
  let count = 0;
  // A request without messages loads the model, which is valid.
  for (const [i, value] of assertArray(body['messages'] ?? [], 'messages').entries()) {
    const where = `messages[${i}]`;
    const message = assertObject(value, where);
    const role = assertOneOf(message['role'], ['system', 'user', 'assistant', 'tool'], `${where}.role`);
    if (typeof message['content'] !== 'string')
      failValidation(`${where}.content`, `is ${formatValue(message['content'])} and must be a string.`);
    if (role === 'tool') {
      // Results have the name of their tool, not the id of their call: only the order identifies the call.
      const id = waiting.shift();
      if (id === undefined) return failValidation(where, 'is a result without a call.');
      const name = message['tool_name'];
      if (name !== undefined && id.split(' ')[0] !== name)
        failValidation(`${where}.tool_name`, `is ${formatValue(name)}, but the next in order is ${id.split(' ')[0]}.`);
      open.result(id, where);
      continue;
    }
    open.assertNoneOpen(where);
    const calls =
      message['tool_calls'] === undefined ? [] : assertNonEmptyArray(message['tool_calls'], `${where}.tool_calls`);
    if (calls.length === 0 && message['content'] === '' && !message['images'])
      failValidation(`${where}.content`, 'is an empty string.');
    waiting = calls.map((call, n) => `${validateToolCall(call, `${where}.tool_calls[${n}]`)} ${count++}`);
    for (const id of waiting) open.call(id, where);
  }
  open.assertNoneOpen('The end of the conversation');
}

function validateToolCall(value: unknown, where: string): string {
  const described = assertObject(assertObject(value, where)['function'], `${where}.function`);
  assertObject(described['arguments'], `${where}.function.arguments`);
  return assertNonEmptyString(described['name'], `${where}.function.name`);
}

function validateOptions(options: RequestObject): void {
  const window = options['num_ctx'];
  if (window !== undefined && !(Number.isInteger(window) && Number(window) > 0))
    failValidation('options.num_ctx', `is ${formatValue(window)} and must be a positive integer.`);
}
