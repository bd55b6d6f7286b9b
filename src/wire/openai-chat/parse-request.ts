// Parses OpenAI chat completion requests and inserts additions into them.
import {
  isObject,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolCallPart,
  type ToolSpec,
} from '../../core/index.ts';
import {
  asJsonArray,
  asObject,
  asObjectArray,
  asString,
  parseCallArguments,
  toOpaquePart,
  toUnknownMessage,
} from '../fields.ts';
import {
  getSystemAddition,
  groupByPosition,
  joinParagraphs,
  type MessageAddition,
  type ParsedModelRequest,
} from '../wire-format.ts';
import { writeChatMessage, writeChatToolCall } from './write-response.ts';

/** Parses a request body. */
export function parseChatRequest(request: JsonObject): ParsedModelRequest {
  const messages = asJsonArray(request['messages']);
  return {
    model: asString(request['model']),
    system: messages.filter(isSystemMessage).map(getContentText).join('\n\n'),
    tools: asObjectArray(request['tools']).flatMap(parseTool),
    messages: messages.map((message) => (isObject(message) ? parseMessage(message) : toUnknownMessage(message))),
  };
}

const isSystemMessage = (message: Json): message is JsonObject =>
  isObject(message) && (message['role'] === 'system' || message['role'] === 'developer');

const parseTool = (tool: JsonObject): readonly ToolSpec[] => {
  const { name, description, parameters } = asObject(tool['function']);
  return typeof name === 'string' ? [{ name, description: asString(description), input: asObject(parameters) }] : [];
};

function getContentText({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return asObjectArray(content)
    .map((part) => asString(part['text']) || asString(part['refusal']))
    .join('\n');
}

function parseMessage(message: JsonObject): Message | null {
  const { role } = message;
  if (role === 'user') return { role, parts: parseUserParts(message) };
  if (role === 'assistant') return { role, parts: parseAssistantParts(message) };
  if (isSystemMessage(message)) return null;
  if (role !== 'tool') return toUnknownMessage(message);
  const result = { id: asString(message['tool_call_id']), tool: '', text: getContentText(message), failed: false };
  return { role, parts: [{ type: 'tool-result', ...result }] };
}

const parseUserParts = ({ content }: JsonObject): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asObjectArray(content).map((part): MessagePart =>
        part['type'] === 'text' ? { type: 'text', text: asString(part['text']) } : toOpaquePart(part),
      );

/** Parses an assistant message of a request or a response. */
export function parseAssistantParts(message: JsonObject): readonly MessagePart[] {
  const text = getContentText(message);
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...asObjectArray(message['tool_calls']).map(parseToolCall),
  ];
}

function parseToolCall(call: JsonObject): ToolCallPart {
  const id = asString(call['id']);
  const custom = asObject(call['custom']);
  if (call['type'] === 'custom')
    return { type: 'tool-call', id, tool: asString(custom['name']), input: custom['input'] ?? '' };
  const { name, arguments: text } = asObject(call['function']);
  return { type: 'tool-call', id, tool: asString(name), ...parseCallArguments(asString(text)) };
}

/** Inserts additions into a request body. */
export function insertChatAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages) || additions.length === 0) return request;
  const groups = groupByPosition(additions);
  const out = (messages as readonly Json[]).flatMap((message, i) => insertAfter(message, groups.get(i) ?? []));
  return { ...request, messages: appendSystemText(out, getSystemAddition(groups)) };
}

/** A note is appended to a user message, because many models require alternating roles; after another message it is a message of its own. */
function insertAfter(message: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    const last = out.at(-1);
    if (addition.type === 'exchange') out.push(...writeDeniedResponse(addition));
    else if (isObject(last) && last['role'] === 'user' && last['content'])
      out.splice(-1, 1, appendText(last, addition.text));
    else out.push({ role: 'user', content: addition.text });
  }
  return out;
}

const appendText = (message: JsonObject, text: string): JsonObject => ({
  ...message,
  content: Array.isArray(message['content'])
    ? [...asJsonArray(message['content']), { type: 'text', text }]
    : joinParagraphs(asString(message['content']), text),
});

function appendSystemText(messages: readonly Json[], text: string): readonly Json[] {
  if (text === '') return messages;
  const at = messages.findIndex(isSystemMessage);
  if (at < 0) return [{ role: 'system', content: text }, ...messages];
  return messages.with(at, appendText(messages[at] as JsonObject, text));
}

const writeDeniedResponse = ({ raw, answer, results }: MessageAddition & { type: 'exchange' }): readonly Json[] => [
  isObject(raw) ? raw : writeAssistantMessage(answer),
  ...results.map(({ id, text: content }) => ({ role: 'tool', tool_call_id: id, content })),
];

function writeAssistantMessage({ parts }: Message): JsonObject {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  return writeChatMessage(
    text === '' ? null : text,
    calls.map(({ id, tool, input }) => writeChatToolCall(id, tool, JSON.stringify(input))),
  );
}
