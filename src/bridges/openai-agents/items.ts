// Converts items of the OpenAI Agents SDK to our messages, and additions to items.
import {
  isObject,
  toJson,
  type FinishReason,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import {
  groupByPosition,
  joinParagraphs,
  getSystemAddition,
  type ParsedModelRequest,
  type ParsedModelResponse,
  parseCallArguments,
  numberField,
  asObject,
  asObjectArray,
  toOpaquePart,
  asString,
  type MessageAddition,
} from '../../wire/index.ts';

/** Converts a request of the runner. */
export const parseAgentsRequest = (request: JsonObject, model: string): ParsedModelRequest => ({
  model,
  system: asString(request['systemInstructions']),
  tools: [
    ...asObjectArray(request['tools']).map((tool): ToolSpec => ({
      name: asString(tool['name']),
      description: asString(tool['description']),
      input: asObject(toJson(tool['parameters'])),
    })),
    ...asObjectArray(request['handoffs']).map((handoff): ToolSpec => ({
      name: asString(handoff['toolName']),
      description: asString(handoff['toolDescription']),
      input: asObject(toJson(handoff['inputJsonSchema'])),
    })),
  ],
  messages: parseItems(getInputItems(request)),
  readOnlyTools: asObjectArray(request['handoffs']).map((handoff) => asString(handoff['toolName'])),
  ...(typeof request['previousResponseId'] === 'string' ? { previousResponseId: request['previousResponseId'] } : {}),
});

const getInputItems = ({ input }: JsonObject): readonly JsonObject[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asObjectArray(input);

const isResult = ({ type }: JsonObject): boolean => /_call_(result|output)$/.test(asString(type));
const isModelItem = (item: JsonObject | undefined): boolean =>
  item !== undefined && !isResult(item) && (item['role'] === 'assistant' || item['role'] === undefined);

/** The items of one response form one message at the position of the first item. */
const parseItems = (items: readonly JsonObject[]): readonly (Message | null)[] =>
  items.map((item, i): Message | null => {
    if (isResult(item)) return { role: 'tool', parts: [parseToolResult(item)] };
    if (item['role'] === 'user') return { role: 'user', parts: parseUserParts(item) };
    if (!isModelItem(item) || isModelItem(items[i - 1])) return null;
    const end = items.findIndex((each, at) => at > i && !isModelItem(each));
    return { role: 'assistant', parts: items.slice(i, end < 0 ? undefined : end).flatMap(parseModelItem) };
  });

const parseUserParts = ({ content }: JsonObject): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asObjectArray(content).map((part) =>
        part['type'] === 'input_text' ? { type: 'text', text: asString(part['text']) } : toOpaquePart(toJson(part)),
      );

const getContentText = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : asObjectArray(content)
        .map((part) => asString(part['text']) || asString(part['refusal']))
        .join('\n');

function parseToolResult(item: JsonObject): MessagePart {
  const { output } = item;
  const words = isObject(output) ? asString(output['text']) : getContentText(output);
  return {
    type: 'tool-result',
    id: asString(item['callId']),
    tool: asString(item['name']),
    text: words || JSON.stringify(toJson(output ?? '')),
    // The SDK reports a tool error as a completed call whose result starts with this text.
    failed: item['status'] !== 'completed' || words.startsWith('An error occurred while running the tool'),
  };
}

/** Calls that the provider ran itself. Every other call, including unknown kinds, is run by the runner. */
const hostedCallTypes = new Set(['hosted_tool_call', 'tool_search_call']);
const isCall = ({ type }: JsonObject): boolean =>
  asString(type).endsWith('_call') && !hostedCallTypes.has(asString(type));

function parseModelItem(item: JsonObject): readonly MessagePart[] {
  if (item['role'] === 'assistant') {
    const words = getContentText(item['content']);
    return words === '' ? [] : [{ type: 'text', text: words }];
  }
  if (!isCall(item)) return [];
  const id = asString(item['callId']);
  if (item['type'] === 'function_call')
    return [
      { type: 'tool-call', id, tool: asString(item['name']), ...parseCallArguments(asString(item['arguments'])) },
    ];
  const tool = asString(item['type']).replace(/_call$/, '');
  return [{ type: 'tool-call', id, tool, input: toJson(item['action'] ?? item['actions'] ?? item['operation'] ?? {}) }];
}

/** Converts a response. */
export function parseAgentsResponse(
  output: readonly JsonObject[],
  usage: Json | undefined,
  id: Json | undefined,
): ParsedModelResponse {
  const parts = output.flatMap(parseModelItem);
  const finish: FinishReason = parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
  return {
    message: { role: 'assistant', parts },
    finish,
    usage: parseAgentsUsage(asObject(usage)),
    raw: toJson(output),
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
  };
}

function parseAgentsUsage({ inputTokens, outputTokens, inputTokensDetails, outputTokensDetails }: JsonObject): Usage {
  const first = (details: Json | undefined): JsonObject => asObjectArray(details)[0] ?? asObject(details);
  return {
    ...numberField('input', inputTokens),
    ...numberField('output', outputTokens),
    ...numberField('cacheRead', first(inputTokensDetails)['cached_tokens']),
    ...numberField('reasoning', first(outputTokensDetails)['reasoning_tokens']),
  };
}

/** Inserts the additions into the request. */
export function insertIntoRequest(request: JsonObject, additions: readonly MessageAddition[]): JsonObject {
  const places = groupByPosition(additions);
  const words = getSystemAddition(places);
  return {
    ...request,
    ...(words ? { systemInstructions: joinParagraphs(asString(request['systemInstructions']), words) } : {}),
    ...(additions.some(({ after }) => after >= 0)
      ? { input: getInputItems(request).flatMap((item, i) => [item, ...(places.get(i) ?? []).flatMap(formatAddition)]) }
      : {}),
  };
}

const createUserItem = (content: string): JsonObject => ({ type: 'message', role: 'user', content });

/** A denied function call is shown with its result; other kinds have no text result, so the denial is added as text. */
function formatAddition(addition: MessageAddition): readonly JsonObject[] {
  if (addition.type !== 'exchange') return [createUserItem(addition.text)];
  const items = Array.isArray(addition.raw) ? asObjectArray(addition.raw as Json) : [];
  const functions = new Set(
    items.flatMap((item) => (item['type'] === 'function_call' ? [asString(item['callId'])] : [])),
  );
  const shown = items.filter((item) => !isCall(item) || functions.has(asString(item['callId'])));
  return [
    ...shown,
    ...addition.results
      .filter(({ id }) => functions.has(id))
      .map(({ id, tool, text: output }) => ({
        type: 'function_call_result',
        callId: id,
        name: tool,
        status: 'completed',
        output,
      })),
    ...addition.results
      .filter(({ id }) => !functions.has(id))
      .map(({ tool, text: why }) => createUserItem(`Your call of ${tool} was not made: ${why}`)),
  ];
}
