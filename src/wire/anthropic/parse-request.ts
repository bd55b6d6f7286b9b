// Parses Anthropic message requests and inserts additions into them.
import { isObject, type Json, type JsonObject, type Message, type MessagePart } from '../../core/index.ts';
import { asJsonArray, asObject, asObjectArray, asString, toOpaquePart, toUnknownMessage } from '../fields.ts';
import {
  getSystemAddition,
  groupByPosition,
  joinParagraphs,
  type MessageAddition,
  type ParsedModelRequest,
} from '../wire-format.ts';

/** Parses a request body. */
export const parseAnthropicRequest = (request: JsonObject): ParsedModelRequest => ({
  model: asString(request['model']),
  system: getContentText(request['system']),
  tools: asObjectArray(request['tools']).flatMap(({ name, description, input_schema }) =>
    typeof name === 'string' ? [{ name, description: asString(description), input: asObject(input_schema) }] : [],
  ),
  messages: asJsonArray(request['messages']).map((message) =>
    isObject(message) ? parseMessage(message) : toUnknownMessage(message),
  ),
});

const getContentText = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : asObjectArray(content)
        .map((part) => asString(part['text']))
        .join('\n');

/** A user message with tool results becomes a tool message; its other blocks stay in it. */
function parseMessage(message: JsonObject): Message {
  const { role, content } = message;
  const blocks = toBlocks(content).filter((each): each is JsonObject => isObject(each));
  if (role === 'assistant') return { role, parts: blocks.flatMap(parseAssistantBlock) };
  if (role !== 'user') return toUnknownMessage(message);
  const hasResults = blocks.some(({ type }) => type === 'tool_result');
  return { role: hasResults ? 'tool' : role, parts: blocks.map(parseUserBlock) };
}

function parseUserBlock(block: JsonObject): MessagePart {
  if (block['type'] === 'text') return { type: 'text', text: asString(block['text']) };
  if (block['type'] !== 'tool_result') return toOpaquePart(block);
  return {
    type: 'tool-result',
    id: asString(block['tool_use_id']),
    tool: '',
    text: getContentText(block['content']),
    failed: block['is_error'] === true,
  };
}

/** Parses a content block of the model; thinking and server tools are passed through only. */
export function parseAssistantBlock(block: JsonObject): readonly MessagePart[] {
  if (block['type'] === 'text') return [{ type: 'text', text: asString(block['text']) }];
  if (block['type'] !== 'tool_use') return [];
  return [{ type: 'tool-call', id: asString(block['id']), tool: asString(block['name']), input: block['input'] ?? {} }];
}

/** Inserts additions into a request body. */
export function insertAnthropicAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages) || additions.length === 0) return request;
  const groups = groupByPosition(additions);
  return {
    ...request,
    ...appendSystemText(request['system'], getSystemAddition(groups)),
    messages: (messages as readonly Json[]).flatMap((message, i) => insertAfter(message, groups.get(i) ?? [])),
  };
}

function appendSystemText(system: Json | undefined, text: string): JsonObject {
  if (text === '') return {};
  if (!Array.isArray(system)) return { system: joinParagraphs(asString(system), text) };
  return { system: [...asJsonArray(system), { type: 'text', text }] };
}

/** Roles must alternate: a note is appended to a user message, and a denied response is followed by its results. */
function insertAfter(message: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    if (addition.type !== 'exchange') {
      const last = out.at(-1);
      const block = { type: 'text', text: addition.text };
      if (isObject(last) && last['role'] === 'user' && last['content'] !== undefined)
        out.splice(-1, 1, { ...last, content: [...toBlocks(last['content']), block] });
      else out.push({ role: 'user', content: [block] });
      continue;
    }
    const content = Array.isArray(addition.raw) ? addition.raw : addition.answer.parts.flatMap(writeBlock);
    const results = addition.results.map(({ id, text }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: text,
      is_error: true,
    }));
    out.push({ role: 'assistant', content });
    if (results.length) out.push({ role: 'user', content: results });
  }
  return out;
}

const toBlocks = (content: Json | undefined): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asJsonArray(content);

function writeBlock(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  return part.type === 'tool-call' ? [{ type: 'tool_use', id: part.id, name: part.tool, input: part.input }] : [];
}
