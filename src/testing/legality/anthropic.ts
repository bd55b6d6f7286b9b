// What Anthropic's messages refuse.
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

const names = /^[a-zA-Z0-9_-]{1,128}$/;
const ids = /^[a-zA-Z0-9_-]+$/;
const mostMarks = 4;

/** Demands a legal messages request. */
export function anthropicLegal(body: Row): void {
  words(body['model'], 'model');
  within(body['temperature'], 0, 1, 'temperature');
  positive(body['max_tokens'], 'max_tokens');
  systemLegal(body['system']);
  toolsLegal(body);
  thinkingLegal(body);
  const messages = filled(body['messages'], 'messages').map((value, i) => object(value, `messages[${i}]`));
  const open = openCalls();
  for (const [i, message] of messages.entries()) {
    const where = `messages[${i}]`;
    const role = oneOf(message['role'], ['user', 'assistant', 'system'], `${where}.role`);
    if (i === 0 && role !== 'user') illegal(where, 'is the first message and must be of the user.');
    const blocks = blocksOf(message['content'], `${where}.content`, i === messages.length - 1 && role === 'assistant');
    if (role === 'assistant') assistantBlocks(blocks, where, open);
    else if (role === 'user') userBlocks(blocks, where, open);
    else open.settled(where);
  }
  open.settled('The end of the conversation');
  lastLegal(messages, body);
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  if (marks > mostMarks)
    illegal('The request', `has ${marks} blocks with cache_control; at most ${mostMarks} are allowed.`);
}

function blocksOf(content: unknown, where: string, mayBeEmpty: boolean): readonly Row[] {
  if (mayBeEmpty && (content === '' || (Array.isArray(content) && content.length === 0))) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return filled(content, where).map((value, i) => object(value, `${where}[${i}]`));
}

function userBlocks(blocks: readonly Row[], where: string, open: OpenCalls): void {
  let spoken = false;
  for (const [i, block] of blocks.entries()) {
    const here = `${where}.content[${i}]`;
    if (block['type'] === 'tool_result') {
      if (spoken) illegal(here, 'is a tool result after other blocks; results stand first in their message.');
      open.result(words(block['tool_use_id'], `${here}.tool_use_id`), here);
      resultLegal(block, here);
      continue;
    }
    open.settled(here);
    spoken = true;
    oneOf(block['type'], ['text', 'image', 'document', 'search_result', 'container_upload'], `${here}.type`);
    textLegal(block, here);
  }
  open.settled(`The end of ${where}`);
}

function assistantBlocks(blocks: readonly Row[], where: string, open: OpenCalls): void {
  for (const [i, block] of blocks.entries()) {
    const here = `${where}.content[${i}]`;
    const type = words(block['type'], `${here}.type`);
    if (type === 'tool_result' || type === 'image')
      illegal(here, `is a block of type ${type} in an assistant message.`);
    if (type === 'thinking') {
      if (typeof block['thinking'] !== 'string') illegal(`${here}.thinking`, 'is missing.');
      words(block['signature'], `${here}.signature`);
      if (block['cache_control']) illegal(`${here}.cache_control`, 'cannot stand on a thinking block.');
    }
    if (type === 'tool_use') {
      toolName(block['name'], names, `${here}.name`);
      object(block['input'], `${here}.input`);
      const id = words(block['id'], `${here}.id`);
      if (!ids.test(id)) illegal(`${here}.id`, `is ${show(id)}; only letters, digits, _ and - are allowed.`);
      open.call(id, here);
    }
    textLegal(block, here);
  }
}

function textLegal(block: Row, where: string): void {
  if (block['type'] !== 'text') return;
  if (words(block['text'], `${where}.text`).trim() === '') illegal(`${where}.text`, 'is nothing but white space.');
}

function resultLegal(block: Row, where: string): void {
  const { content } = block;
  const empty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  if (empty && block['is_error'] === true) illegal(`${where}.content`, 'is empty, which an error may not be.');
  if (empty || typeof content === 'string') return;
  for (const [i, value] of array(content, `${where}.content`).entries()) {
    const here = `${where}.content[${i}]`;
    const inner = object(value, here);
    oneOf(inner['type'], ['text', 'image', 'document', 'search_result', 'tool_reference'], `${here}.type`);
    textLegal(inner, here);
  }
}

function systemLegal(system: unknown): void {
  if (system === undefined || typeof system === 'string') return;
  for (const [i, value] of filled(system, 'system').entries()) {
    const block = object(value, `system[${i}]`);
    oneOf(block['type'], ['text'], `system[${i}].type`);
    textLegal(block, `system[${i}]`);
  }
}

function toolsLegal(body: Row): void {
  const seen = new Set<string>();
  for (const [i, value] of array(body['tools'] ?? [], 'tools').entries()) {
    const where = `tools[${i}]`;
    const tool = object(value, where);
    once(seen, toolName(tool['name'], names, `${where}.name`), `${where}.name`);
    if (tool['type'] === undefined || tool['type'] === 'custom')
      argumentSchema(tool['input_schema'], `${where}.input_schema`);
  }
  if (body['tool_choice'] === undefined) return;
  if (seen.size === 0) illegal('tool_choice', 'is only allowed together with tools.');
  const { type, name } = object(body['tool_choice'], 'tool_choice');
  oneOf(type, ['auto', 'any', 'tool', 'none'], 'tool_choice.type');
  if (type === 'tool' && !seen.has(String(name)))
    illegal('tool_choice.name', `is ${show(name)}, which is not among the tools.`);
}

function thinkingLegal(body: Row): void {
  const thinking = body['thinking'];
  if (thinking === undefined || object(thinking, 'thinking')['type'] !== 'enabled') return;
  const budget = positive(object(thinking, 'thinking')['budget_tokens'], 'thinking.budget_tokens');
  if (budget < 1024) illegal('thinking.budget_tokens', `is ${budget}; at least 1024 are needed.`);
  if (budget >= Number(body['max_tokens'])) illegal('max_tokens', 'must be greater than thinking.budget_tokens.');
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    illegal('temperature', 'must be 1 or absent while thinking is enabled.');
  const forced = (body['tool_choice'] as Row | undefined)?.['type'];
  if (forced === 'any' || forced === 'tool') illegal('tool_choice', 'cannot force a tool while thinking is enabled.');
}

/** Rules that only the end of the conversation has. */
function lastLegal(messages: readonly Row[], body: Row): void {
  const at = messages.findLastIndex((message) => message['role'] === 'assistant');
  const blocks = messages[at]?.['content'];
  if (!Array.isArray(blocks)) {
    if (at === messages.length - 1 && typeof blocks === 'string' && /\s$/.test(blocks))
      illegal(`messages[${at}].content`, 'is the final assistant message and ends with white space.');
    return;
  }
  const first = (blocks[0] as Row | undefined)?.['type'];
  const calls = blocks.some((block: Row) => block['type'] === 'tool_use');
  if (
    (body['thinking'] as Row | undefined)?.['type'] === 'enabled' &&
    calls &&
    first !== 'thinking' &&
    first !== 'redacted_thinking'
  )
    illegal(
      `messages[${at}].content[0]`,
      `is ${show(first)}; while thinking is enabled a message with tool calls begins with its thinking.`,
    );
}

function positive(value: unknown, where: string): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
    ? value
    : illegal(where, `is ${show(value)} and must be a whole number above zero.`);
}
