// Parses OpenAI responses requests, whose input is a list of items, and inserts additions into them.
import {
  isObject,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
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

/** Parses a request body. */
export function parseResponsesRequest(request: JsonObject): ParsedModelRequest {
  const items = getInputItems(request);
  const previous = asString(request['previous_response_id']);
  return {
    model: asString(request['model']),
    system: [asString(request['instructions']), ...items.filter(isSystemItem).map(getSystemText)]
      .filter(Boolean)
      .join('\n\n'),
    tools: asObjectArray(request['tools']).flatMap(parseTool),
    messages: parseItems(items),
    ...(previous === '' ? {} : { previousResponseId: previous }),
  };
}

const parseTool = ({ name, description, parameters }: JsonObject): readonly ToolSpec[] =>
  typeof name === 'string' ? [{ name, description: asString(description), input: asObject(parameters) }] : [];

const getInputItems = ({ input }: JsonObject): readonly Json[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : asJsonArray(input);

const isSystemItem = (item: Json): item is JsonObject =>
  isObject(item) && (item['role'] === 'system' || item['role'] === 'developer');

const getSystemText = ({ content }: JsonObject): string =>
  typeof content === 'string' ? content : getContentText(content);

/** Whether the client must run this item. Tools of the provider have run when their items arrive. */
export const isClientCall = ({ type, call_id }: JsonObject): boolean =>
  type === 'mcp_approval_request' || (asString(type).endsWith('_call') && typeof call_id === 'string');

const isResult = ({ type }: JsonObject): boolean =>
  type === 'mcp_approval_response' || asString(type).endsWith('_call_output');

const isModelItem = (item: JsonObject): boolean =>
  !isResult(item) && (item['role'] === 'assistant' || (item['role'] === undefined && 'type' in item));

/** Consecutive items of the model are one message at the position of the first; the others are null. */
function parseItems(items: readonly Json[]): readonly (Message | null)[] {
  let modelParts: MessagePart[] | undefined;
  return items.map((item): Message | null => {
    if (!isObject(item)) {
      modelParts = undefined;
      return toUnknownMessage(item);
    }
    if (isModelItem(item)) {
      const isFirst = modelParts === undefined;
      modelParts ??= [];
      for (const part of parseModelItem(item)) modelParts.push(part);
      return isFirst ? { role: 'assistant', parts: modelParts } : null;
    }
    modelParts = undefined;
    if (isResult(item)) return { role: 'tool', parts: [parseToolOutput(item)] };
    if (item['role'] === 'user') return { role: 'user', parts: parseUserParts(item) };
    return isSystemItem(item) ? null : toUnknownMessage(item);
  });
}

const parseToolOutput = (item: JsonObject): MessagePart => ({
  type: 'tool-result',
  id: asString(item['call_id']) || asString(item['approval_request_id']),
  tool: '',
  text: typeof item['output'] === 'string' ? item['output'] : getContentText(item['output']) || JSON.stringify(item),
  failed: item['status'] === 'incomplete',
});

const getContentText = (content: Json | undefined): string =>
  asObjectArray(content)
    .map((part) => asString(part['text']) || asString(part['refusal']))
    .join('\n');

const parseUserParts = ({ content }: JsonObject): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asObjectArray(content).map((part) =>
        part['type'] === 'input_text' ? { type: 'text', text: asString(part['text']) } : toOpaquePart(part),
      );

/** Parses an item of the model: a message or a call that the client runs. */
export function parseModelItem(item: JsonObject): readonly MessagePart[] {
  if (item['role'] === 'assistant') {
    const text = typeof item['content'] === 'string' ? item['content'] : getContentText(item['content']);
    return text === '' ? [] : [{ type: 'text', text }];
  }
  if (!isClientCall(item)) return [];
  const id = asString(item['call_id']) || asString(item['id']);
  const tool = asString(item['name']) || asString(item['type']);
  if (typeof item['arguments'] === 'string')
    return [{ type: 'tool-call', id, tool, ...parseCallArguments(item['arguments']) }];
  return [{ type: 'tool-call', id, tool, input: item['input'] ?? item['action'] ?? item['operation'] ?? {} }];
}

/** Inserts additions into a request body. `input` keeps its form if only the instructions change. */
export function insertResponsesAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject {
  if (additions.length === 0) return request;
  const groups = groupByPosition(additions);
  const system = getSystemAddition(groups);
  const items = getInputItems(request);
  const at = request['instructions'] ? -1 : items.findIndex(isSystemItem);
  const input = items.flatMap((item, i) => [
    i === at && system !== '' ? appendText(item as JsonObject, system) : item,
    ...(groups.get(i) ?? []).flatMap(writeAddition),
  ]);
  const isInputChanged = groups.size > (groups.has(-1) ? 1 : 0) || (at >= 0 && system !== '');
  return {
    ...request,
    ...(system === '' || at >= 0 ? {} : { instructions: joinParagraphs(asString(request['instructions']), system) }),
    ...(isInputChanged ? { input } : {}),
  };
}

const appendText = (item: JsonObject, text: string): JsonObject => ({
  ...item,
  content: Array.isArray(item['content'])
    ? [...asJsonArray(item['content']), { type: 'input_text', text }]
    : joinParagraphs(asString(item['content']), text),
});

function writeAddition(addition: MessageAddition): readonly Json[] {
  if (addition.type !== 'exchange') return [{ role: 'user', content: addition.text }];
  const items = Array.isArray(addition.raw)
    ? asObjectArray(addition.raw as Json)
    : addition.answer.parts.flatMap(writeItem);
  const types = new Map(
    items.map((item) => [asString(item['call_id']) || asString(item['id']), asString(item['type'])]),
  );
  return [
    ...items.flatMap(toInputItems),
    ...addition.results.map(({ id, text }) => writeToolOutput(types.get(id) ?? '', id, text)),
  ];
}

/** Ids are removed, because the client may send the same items with their ids and an id must be unique; reasoning is invalid without its id, so it is dropped. */
function toInputItems(item: JsonObject): readonly JsonObject[] {
  if (item['type'] === 'reasoning') return [];
  const { id: _, ...rest } = item;
  return [item['type'] === 'mcp_approval_request' ? item : rest];
}

function writeToolOutput(type: string, id: string, output: string): JsonObject {
  if (type === 'mcp_approval_request')
    return { type: 'mcp_approval_response', approval_request_id: id, approve: false, reason: output };
  return { type: `${type || 'function_call'}_output`, call_id: id, output };
}

function writeItem(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ role: 'assistant', content: part.text }];
  if (part.type !== 'tool-call') return [];
  return [{ type: 'function_call', call_id: part.id, name: part.tool, arguments: JSON.stringify(part.input) }];
}
