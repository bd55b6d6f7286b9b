// What OpenAI's responses refuse.
import { openCalls, type OpenCalls } from './calls.ts';
import { argumentsText, choiceLegal, functionLegal } from './chat.ts';
import { filled, illegal, object, once, oneOf, show, toolName, within, words, type Row } from './demand.ts';

const assistantParts = ['output_text', 'refusal'];
const userParts = ['input_text', 'input_image', 'input_file', 'input_audio'];

/** Demands a legal responses request. */
export function responsesLegal(body: Row): void {
  words(body['model'], 'model');
  within(body['temperature'], 0, 2, 'temperature');
  choiceLegal(body, toolsLegal(body['tools']));
  if (body['instructions'] !== undefined && typeof body['instructions'] !== 'string' && body['instructions'] !== null)
    illegal('instructions', `is ${show(body['instructions'])} and must be a text.`);
  if (typeof body['input'] === 'string') return void words(body['input'], 'input');
  // What came before is kept by the service: calls may be there and not here.
  const stored = body['previous_response_id'] || body['conversation'];
  const open = openCalls();
  const ids = new Set<string>();
  const items = filled(body['input'], 'input').map((value, i) => object(value, `input[${i}]`));
  for (const [i, item] of items.entries()) {
    const where = `input[${i}]`;
    if (typeof item['id'] === 'string' && item['type'] !== 'item_reference') once(ids, item['id'], `${where}.id`);
    itemLegal(item, where, stored ? undefined : open, items[i + 1]);
  }
  if (!stored) open.settled('The end of the input');
}

function itemLegal(item: Row, where: string, open: OpenCalls | undefined, next: Row | undefined): void {
  const type = item['type'] ?? 'message';
  if (type === 'message') return messageLegal(item, where, open);
  if (type === 'function_call') {
    toolName(item['name'], /^[a-zA-Z0-9_-]{1,64}$/, `${where}.name`);
    argumentsText(item['arguments'], `${where}.arguments`);
    open?.call(words(item['call_id'], `${where}.call_id`), where);
  } else if (type === 'function_call_output') {
    const id = words(item['call_id'], `${where}.call_id`);
    for (const [i, part] of typeof item['output'] === 'string'
      ? []
      : filled(item['output'], `${where}.output`).entries())
      oneOf(object(part, `${where}.output[${i}]`)['type'], userParts, `${where}.output[${i}].type`);
    open?.result(id, where);
  } else if (type === 'reasoning') {
    if (!Array.isArray(item['summary']))
      illegal(`${where}.summary`, 'is missing; a reasoning item has one, if only an empty list.');
    if (typeof item['id'] === 'string' && !ledTo(next))
      illegal(where, 'is reasoning without the item that it led to, in its original form with its id.');
  } else words(type, `${where}.type`);
}

/** Whether an item can be what a reasoning item led to: something the model made, known to the service by its id. */
const ledTo = (item: Row | undefined): boolean =>
  item !== undefined && item['type'] !== 'function_call_output' && typeof item['id'] === 'string';

function messageLegal(item: Row, where: string, open: OpenCalls | undefined): void {
  const role = oneOf(item['role'], ['user', 'assistant', 'system', 'developer'], `${where}.role`);
  open?.settled(where);
  // An empty text is taken here, unlike an empty part.
  if (item['content'] === '') return;
  if (!Array.isArray(item['content'])) return void words(item['content'], `${where}.content`);
  const allowed = role === 'assistant' ? assistantParts : userParts;
  for (const [i, value] of filled(item['content'], `${where}.content`).entries()) {
    const here = `${where}.content[${i}]`;
    const part = object(value, here);
    const type = oneOf(part['type'], allowed, `${here}.type`);
    if (type.endsWith('_text')) words(part['text'], `${here}.text`);
  }
}

function toolsLegal(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  if (value === undefined) return seen;
  // An empty list is fine here, unlike in chat completions.
  if (Array.isArray(value) && value.length === 0) return seen;
  for (const [i, each] of filled(value, 'tools').entries()) {
    const tool = object(each, `tools[${i}]`);
    if (words(tool['type'], `tools[${i}].type`) === 'function') functionLegal(tool, `tools[${i}]`, seen);
  }
  return seen;
}
