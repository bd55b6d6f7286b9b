// Validates requests as OpenAI's responses API does.
import { createToolCallTracker, type ToolCallTracker } from './tool-call-order.ts';
import { assertJsonText, validateToolChoice, validateFunction } from './openai-chat.ts';
import {
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

const assistantParts = ['output_text', 'refusal'];
const userParts = ['input_text', 'input_image', 'input_file', 'input_audio'];

/** Throws unless this is a valid responses request. */
export function validateResponsesRequest(body: RequestObject): void {
  assertNonEmptyString(body['model'], 'model');
  assertInRange(body['temperature'], 0, 2, 'temperature');
  validateToolChoice(body, validateTools(body['tools']));
  if (body['instructions'] !== undefined && typeof body['instructions'] !== 'string' && body['instructions'] !== null)
    failValidation('instructions', `is ${formatValue(body['instructions'])} and must be a string.`);
  if (typeof body['input'] === 'string') return void assertNonEmptyString(body['input'], 'input');
  // The service stores earlier items: a call may be there and not in this request.
  const stored = body['previous_response_id'] || body['conversation'];
  const open = createToolCallTracker();
  const ids = new Set<string>();
  const items = assertNonEmptyArray(body['input'], 'input').map((value, i) => assertObject(value, `input[${i}]`));
  for (const [i, item] of items.entries()) {
    const where = `input[${i}]`;
    if (typeof item['id'] === 'string' && item['type'] !== 'item_reference')
      assertUnique(ids, item['id'], `${where}.id`);
    validateItem(item, where, stored ? undefined : open, items[i + 1]);
  }
  if (!stored) open.assertNoneOpen('The end of the input');
}

function validateItem(
  item: RequestObject,
  where: string,
  open: ToolCallTracker | undefined,
  next: RequestObject | undefined,
): void {
  const type = item['type'] ?? 'message';
  if (type === 'message') return validateMessage(item, where, open);
  if (type === 'function_call') {
    assertToolName(item['name'], /^[a-zA-Z0-9_-]{1,64}$/, `${where}.name`);
    assertJsonText(item['arguments'], `${where}.arguments`);
    open?.call(assertNonEmptyString(item['call_id'], `${where}.call_id`), where);
  } else if (type === 'function_call_output') {
    const id = assertNonEmptyString(item['call_id'], `${where}.call_id`);
    for (const [i, part] of typeof item['output'] === 'string'
      ? []
      : assertNonEmptyArray(item['output'], `${where}.output`).entries())
      assertOneOf(assertObject(part, `${where}.output[${i}]`)['type'], userParts, `${where}.output[${i}].type`);
    open?.result(id, where);
  } else if (type === 'reasoning') {
    if (!Array.isArray(item['summary']))
      failValidation(`${where}.summary`, 'is missing; a reasoning item must have one, which may be an empty list.');
    if (typeof item['id'] === 'string' && !isModelOutput(next))
      failValidation(where, 'is reasoning without the item that followed it, unchanged and with its id.');
  } else assertNonEmptyString(type, `${where}.type`);
}

/** Whether an item can follow a reasoning item: an output of the model that the service knows by its id. */
const isModelOutput = (item: RequestObject | undefined): boolean =>
  item !== undefined && item['type'] !== 'function_call_output' && typeof item['id'] === 'string';

function validateMessage(item: RequestObject, where: string, open: ToolCallTracker | undefined): void {
  const role = assertOneOf(item['role'], ['user', 'assistant', 'system', 'developer'], `${where}.role`);
  open?.assertNoneOpen(where);
  // An empty text is accepted here, unlike an empty part.
  if (item['content'] === '') return;
  if (!Array.isArray(item['content'])) return void assertNonEmptyString(item['content'], `${where}.content`);
  const allowed = role === 'assistant' ? assistantParts : userParts;
  for (const [i, value] of assertNonEmptyArray(item['content'], `${where}.content`).entries()) {
    const here = `${where}.content[${i}]`;
    const part = assertObject(value, here);
    const type = assertOneOf(part['type'], allowed, `${here}.type`);
    if (type.endsWith('_text')) assertNonEmptyString(part['text'], `${here}.text`);
  }
}

function validateTools(value: unknown): ReadonlySet<string> {
  const seen = new Set<string>();
  if (value === undefined) return seen;
  // An empty list is accepted here, unlike in chat completions.
  if (Array.isArray(value) && value.length === 0) return seen;
  for (const [i, each] of assertNonEmptyArray(value, 'tools').entries()) {
    const tool = assertObject(each, `tools[${i}]`);
    if (assertNonEmptyString(tool['type'], `tools[${i}].type`) === 'function')
      validateFunction(tool, `tools[${i}]`, seen);
  }
  return seen;
}
