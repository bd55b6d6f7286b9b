// What Ollama's own /api/chat refuses.
import { openCalls } from './calls.ts';
import { functionTools } from './chat.ts';
import { array, filled, illegal, object, oneOf, show, words, type Row } from './demand.ts';

/** Demands a legal /api/chat request. */
export function ollamaLegal(body: Row): void {
  words(body['model'], 'model');
  if (Array.isArray(body['tools']) ? body['tools'].length : body['tools']) functionTools(body['tools']);
  if (body['options'] !== undefined) optionsLegal(object(body['options'], 'options'));
  if (body['format'] !== undefined && body['format'] !== 'json') object(body['format'], 'format');
  const open = openCalls();
  let waiting: string[] = [];
  let count = 0;
  // No messages at all loads the model, which is legal.
  for (const [i, value] of array(body['messages'] ?? [], 'messages').entries()) {
    const where = `messages[${i}]`;
    const message = object(value, where);
    const role = oneOf(message['role'], ['system', 'user', 'assistant', 'tool'], `${where}.role`);
    if (typeof message['content'] !== 'string')
      illegal(`${where}.content`, `is ${show(message['content'])} and must be a text.`);
    if (role === 'tool') {
      // Results name their tool, not their call: the order alone says which call is meant.
      const id = waiting.shift() ?? 'no call';
      const name = message['tool_name'];
      if (name !== undefined && id.split(' ')[0] !== name)
        illegal(`${where}.tool_name`, `is ${show(name)}, but the next in order is ${id.split(' ')[0]}.`);
      open.result(id, where);
      continue;
    }
    open.settled(where);
    const calls = message['tool_calls'] === undefined ? [] : filled(message['tool_calls'], `${where}.tool_calls`);
    if (calls.length === 0 && message['content'] === '' && !message['images'])
      illegal(`${where}.content`, 'is an empty text.');
    waiting = calls.map((call, n) => `${callLegal(call, `${where}.tool_calls[${n}]`)} ${count++}`);
    for (const id of waiting) open.call(id, where);
  }
  open.settled('The end of the conversation');
}

function callLegal(value: unknown, where: string): string {
  const described = object(object(value, where)['function'], `${where}.function`);
  object(described['arguments'], `${where}.function.arguments`);
  return words(described['name'], `${where}.function.name`);
}

function optionsLegal(options: Row): void {
  const window = options['num_ctx'];
  if (window !== undefined && !(Number.isInteger(window) && Number(window) > 0))
    illegal('options.num_ctx', `is ${show(window)} and must be a whole number above zero.`);
}
