// Validates requests as the Anthropic messages API does.
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

const toolNamePattern = /^[a-zA-Z0-9_-]{1,128}$/;
const toolUseIdPattern = /^[a-zA-Z0-9_-]+$/;
const maxCacheMarkers = 4;

/** Throws unless this is a valid messages request. */
export function validateAnthropicRequest(body: RequestObject): void {
  assertNonEmptyString(body['model'], 'model');
  assertInRange(body['temperature'], 0, 1, 'temperature');
  assertPositiveInteger(body['max_tokens'], 'max_tokens');
  validateSystem(body['system']);
  validateTools(body);
  validateThinking(body);
  const messages = assertNonEmptyArray(body['messages'], 'messages').map((value, i) =>
    assertObject(value, `messages[${i}]`),
  );
  const open = createToolCallTracker();
  for (const [i, message] of messages.entries()) {
    const where = `messages[${i}]`;
    const role = assertOneOf(message['role'], ['user', 'assistant', 'system'], `${where}.role`);
    if (i === 0 && role !== 'user') failValidation(where, 'is the first message and must be a user message.');
    const blocks = contentBlocks(
      message['content'],
      `${where}.content`,
      i === messages.length - 1 && role === 'assistant',
    );
    if (role === 'assistant') validateAssistantBlocks(blocks, where, open);
    else if (role === 'user') validateUserBlocks(blocks, where, open);
    else open.assertNoneOpen(where);
  }
  open.assertNoneOpen('The end of the conversation');
  validateLastMessage(messages, body);
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  if (marks > maxCacheMarkers)
    failValidation('The request', `has ${marks} blocks with cache_control; at most ${maxCacheMarkers} are allowed.`);
}

function contentBlocks(content: unknown, where: string, mayBeEmpty: boolean): readonly RequestObject[] {
  if (mayBeEmpty && (content === '' || (Array.isArray(content) && content.length === 0))) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return assertNonEmptyArray(content, where).map((value, i) => assertObject(value, `${where}[${i}]`));
}

function validateUserBlocks(blocks: readonly RequestObject[], where: string, open: ToolCallTracker): void {
  let spoken = false;
  for (const [i, block] of blocks.entries()) {
    const here = `${where}.content[${i}]`;
    if (block['type'] === 'tool_result') {
      if (spoken)
        failValidation(here, 'is a tool result after other blocks; results must come first in their message.');
      open.result(assertNonEmptyString(block['tool_use_id'], `${here}.tool_use_id`), here);
      validateToolResult(block, here);
      continue;
    }
    open.assertNoneOpen(here);
    spoken = true;
    assertOneOf(block['type'], ['text', 'image', 'document', 'search_result', 'container_upload'], `${here}.type`);
    validateText(block, here);
  }
  open.assertNoneOpen(`The end of ${where}`);
}

function validateAssistantBlocks(blocks: readonly RequestObject[], where: string, open: ToolCallTracker): void {
  for (const [i, block] of blocks.entries()) {
    const here = `${where}.content[${i}]`;
    const type = assertNonEmptyString(block['type'], `${here}.type`);
    if (type === 'tool_result' || type === 'image')
      failValidation(here, `is a block of type ${type} in an assistant message.`);
    if (type === 'thinking') {
      if (typeof block['thinking'] !== 'string') failValidation(`${here}.thinking`, 'is missing.');
      assertNonEmptyString(block['signature'], `${here}.signature`);
      if (block['cache_control']) failValidation(`${here}.cache_control`, 'is not allowed on a thinking block.');
    }
    if (type === 'tool_use') {
      assertToolName(block['name'], toolNamePattern, `${here}.name`);
      assertObject(block['input'], `${here}.input`);
      const id = assertNonEmptyString(block['id'], `${here}.id`);
      if (!toolUseIdPattern.test(id))
        failValidation(`${here}.id`, `is ${formatValue(id)}; only letters, digits, _ and - are allowed.`);
      open.call(id, here);
    }
    validateText(block, here);
  }
}

function validateText(block: RequestObject, where: string): void {
  if (block['type'] !== 'text') return;
  if (assertNonEmptyString(block['text'], `${where}.text`).trim() === '')
    failValidation(`${where}.text`, 'is only white space.');
}

function validateToolResult(block: RequestObject, where: string): void {
  const { content } = block;
  const empty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  if (empty && block['is_error'] === true)
    failValidation(`${where}.content`, 'is empty, which is not allowed for an error.');
  if (empty || typeof content === 'string') return;
  for (const [i, value] of assertArray(content, `${where}.content`).entries()) {
    const here = `${where}.content[${i}]`;
    const inner = assertObject(value, here);
    assertOneOf(inner['type'], ['text', 'image', 'document', 'search_result', 'tool_reference'], `${here}.type`);
    validateText(inner, here);
  }
}

function validateSystem(system: unknown): void {
  if (system === undefined || typeof system === 'string') return;
  for (const [i, value] of assertNonEmptyArray(system, 'system').entries()) {
    const block = assertObject(value, `system[${i}]`);
    assertOneOf(block['type'], ['text'], `system[${i}].type`);
    validateText(block, `system[${i}]`);
  }
}

function validateTools(body: RequestObject): void {
  const seen = new Set<string>();
  for (const [i, value] of assertArray(body['tools'] ?? [], 'tools').entries()) {
    const where = `tools[${i}]`;
    const tool = assertObject(value, where);
    assertUnique(seen, assertToolName(tool['name'], toolNamePattern, `${where}.name`), `${where}.name`);
    if (tool['type'] === undefined || tool['type'] === 'custom')
      assertObjectSchema(tool['input_schema'], `${where}.input_schema`);
  }
  if (body['tool_choice'] === undefined) return;
  if (seen.size === 0) failValidation('tool_choice', 'is only allowed together with tools.');
  const { type, name } = assertObject(body['tool_choice'], 'tool_choice');
  assertOneOf(type, ['auto', 'any', 'tool', 'none'], 'tool_choice.type');
  if (type === 'tool' && !seen.has(String(name)))
    failValidation('tool_choice.name', `is ${formatValue(name)}, which is not among the tools.`);
}

function validateThinking(body: RequestObject): void {
  const thinking = body['thinking'];
  if (thinking === undefined || assertObject(thinking, 'thinking')['type'] !== 'enabled') return;
  const budget = assertPositiveInteger(assertObject(thinking, 'thinking')['budget_tokens'], 'thinking.budget_tokens');
  if (budget < 1024) failValidation('thinking.budget_tokens', `is ${budget}; at least 1024 are needed.`);
  if (budget >= Number(body['max_tokens']))
    failValidation('max_tokens', 'must be greater than thinking.budget_tokens.');
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    failValidation('temperature', 'must be 1 or absent while thinking is enabled.');
  const forced = (body['tool_choice'] as RequestObject | undefined)?.['type'];
  if (forced === 'any' || forced === 'tool')
    failValidation('tool_choice', 'cannot force a tool while thinking is enabled.');
}

/** Validates the end of the conversation. */
function validateLastMessage(messages: readonly RequestObject[], body: RequestObject): void {
  const at = messages.findLastIndex((message) => message['role'] === 'assistant');
  const blocks = messages[at]?.['content'];
  if (!Array.isArray(blocks)) {
    if (at === messages.length - 1 && typeof blocks === 'string' && /\s$/.test(blocks))
      failValidation(`messages[${at}].content`, 'is the final assistant message and ends with white space.');
    return;
  }
  const first = (blocks[0] as RequestObject | undefined)?.['type'];
  const calls = blocks.some((block: RequestObject) => block['type'] === 'tool_use');
  if (
    (body['thinking'] as RequestObject | undefined)?.['type'] === 'enabled' &&
    calls &&
    first !== 'thinking' &&
    first !== 'redacted_thinking'
  )
    failValidation(
      `messages[${at}].content[0]`,
      `is ${formatValue(first)}; while thinking is enabled a message with tool calls must begin with its thinking.`,
    );
}

function assertPositiveInteger(value: unknown, where: string): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
    ? value
    : failValidation(where, `is ${formatValue(value)} and must be a positive integer.`);
}
