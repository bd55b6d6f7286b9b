// OpenAI's responses, as callers of any framework write them: items instead of messages.
import {
  isObject,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import type { MessageAddition } from '../interceptor/caller-history.ts';
import {
  groupByPosition,
  joinParagraphs,
  formatStopMessage,
  getSystemAddition,
  type StreamAssembler,
  type WireFormat,
  type WireStreamEvent,
  type ParsedModelResponse,
} from './wire-format.ts';
import { createTextResponse, createResponseEvents } from './responses-writer.ts';
import {
  asJsonArray,
  parseCallArguments,
  numberField,
  asObject,
  asObjectArray,
  toOpaquePart,
  asString,
} from './json.ts';

/** Responses as a dialect. */
export const responsesFormat: WireFormat = {
  name: 'responses',
  toolCallMarkers: ['_call"', '"mcp_approval_request"'],
  parseRequest(request) {
    const previous = asString(request['previous_response_id']);
    return {
      model: asString(request['model']),
      system: [asString(request['instructions']), ...getInputItems(request).filter(isSystem).map(getSystemText)]
        .filter(Boolean)
        .join('\n\n'),
      tools: asObjectArray(request['tools']).flatMap(parseResponsesTool),
      messages: parseItems(getInputItems(request)),
      ...(previous === '' ? {} : { previousResponseId: previous }),
    };
  },
  unsupportedReason: ({ background }) =>
    background === true ? 'An answer in the background (`background`) would come past the guide.' : undefined,
  insertAdditions(request, additions) {
    if (additions.length === 0) return request;
    const places = groupByPosition(additions);
    const words = getSystemAddition(places);
    const items = getInputItems(request);
    const at = request['instructions'] ? -1 : items.findIndex(isSystem);
    const input = items.flatMap((item, i) => [
      i === at && words !== '' ? appendText(item as JsonObject, words) : item,
      ...(places.get(i) ?? []).flatMap(formatAddition),
    ]);
    // Where nothing but the instructions is added, the caller's input stays in the form it has.
    const changed = places.size > (places.has(-1) ? 1 : 0) || (at >= 0 && words !== '');
    return {
      ...request,
      ...(words === '' || at >= 0 ? {} : { instructions: joinParagraphs(asString(request['instructions']), words) }),
      ...(changed ? { input } : {}),
    };
  },
  parseResponse: parseResponsesAnswer,
  createAssembler: createResponsesAssembler,
  continueStream: continueResponsesStream,
  stopResponse: (request, stop) => createTextResponse(request, formatStopMessage(stop)),
  stopEvents(request, stop) {
    const { opening, delta, closing } = createResponseEvents(createTextResponse(request, ''));
    const words = formatStopMessage(stop);
    return [...opening, delta(words), ...closing(words)];
  },
  errorBody: (message) => ({ error: { message, type: 'fairlead_error', param: null, code: null } }),
  errorEvent: (message) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'fairlead_error', message, param: null },
  }),
};

const parseResponsesTool = (tool: JsonObject): readonly ToolSpec[] =>
  typeof tool['name'] === 'string'
    ? [{ name: tool['name'], description: asString(tool['description']), input: asObject(tool['parameters']) }]
    : [];

const getInputItems = ({ input }: JsonObject): readonly Json[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : asJsonArray(input);

const isSystem = (item: Json): item is JsonObject =>
  isObject(item) && (item['role'] === 'system' || item['role'] === 'developer');

const getSystemText = ({ content }: JsonObject): string =>
  typeof content === 'string' ? content : getContentText(content);

const appendText = (item: JsonObject, words: string): JsonObject => ({
  ...item,
  content: Array.isArray(item['content'])
    ? [...asJsonArray(item['content']), { type: 'input_text', text: words }]
    : joinParagraphs(asString(item['content']), words),
});

/** Whether the caller runs this: the provider's own tools are done when their items come, and have nothing to answer to. */
const isCall = ({ type, call_id }: JsonObject): boolean =>
  type === 'mcp_approval_request' || (asString(type).endsWith('_call') && typeof call_id === 'string');

const isResult = ({ type }: JsonObject): boolean =>
  type === 'mcp_approval_response' || asString(type).endsWith('_call_output');

/** Whether the model made it. */
const isModelItem = (item: Json): item is JsonObject =>
  isObject(item) && !isResult(item) && (item['role'] === 'assistant' || (item['role'] === undefined && 'type' in item));

/** What one answer made stands where its first item does: it is one message, and its other items pass with it. */
function parseItems(items: readonly Json[]): readonly (Message | null)[] {
  return items.map((item, i): Message | null => {
    if (!isObject(item)) return null;
    if (isResult(item)) return { role: 'tool', parts: [parseToolOutput(item)] };
    if (item['role'] === 'user') return { role: 'user', parts: parseUserParts(item) };
    if (!isModelItem(item) || isModelItem(items[i - 1] ?? null)) return null;
    const end = items.findIndex((each, at) => at > i && !isModelItem(each));
    return {
      role: 'assistant',
      parts: (items.slice(i, end < 0 ? undefined : end) as JsonObject[]).flatMap(parseModelItem),
    };
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

function parseModelItem(item: JsonObject): readonly MessagePart[] {
  if (item['role'] === 'assistant') {
    const words = typeof item['content'] === 'string' ? item['content'] : getContentText(item['content']);
    return words === '' ? [] : [{ type: 'text', text: words }];
  }
  if (!isCall(item)) return [];
  const id = asString(item['call_id']) || asString(item['id']);
  const tool = asString(item['name']) || asString(item['type']);
  if (typeof item['arguments'] === 'string')
    return [{ type: 'tool-call', id, tool, ...parseCallArguments(item['arguments']) }];
  return [{ type: 'tool-call', id, tool, input: item['input'] ?? item['action'] ?? item['operation'] ?? {} }];
}

function parseResponsesAnswer(response: JsonObject): ParsedModelResponse {
  const output = asObjectArray(response['output']);
  const parts = output.flatMap(parseModelItem);
  const id = asString(response['id']);
  const calls = parts.some(({ type }) => type === 'tool-call');
  const cut = asObject(response['incomplete_details'])['reason'];
  return {
    message: { role: 'assistant', parts },
    finish: cut === 'content_filter' ? 'filtered' : cut ? 'length' : calls ? 'tool-calls' : 'stop',
    usage: parseResponsesUsage(asObject(response['usage'])),
    raw: output,
    ...(id === '' ? {} : { id }),
  };
}

const parseResponsesUsage = ({
  input_tokens,
  output_tokens,
  input_tokens_details,
  output_tokens_details,
}: JsonObject): Usage => ({
  ...numberField('input', input_tokens),
  ...numberField('output', output_tokens),
  ...numberField('cacheRead', asObject(input_tokens_details)['cached_tokens']),
  ...numberField('reasoning', asObject(output_tokens_details)['reasoning_tokens']),
});

function formatAddition(addition: MessageAddition): readonly Json[] {
  if (addition.type !== 'exchange') return [{ role: 'user', content: addition.text }];
  const items = Array.isArray(addition.raw) ? asObjectArray(addition.raw) : addition.answer.parts.flatMap(formatItem);
  const kinds = new Map(
    items.map((item) => [asString(item['call_id']) || asString(item['id']), asString(item['type'])]),
  );
  return [
    ...items.flatMap(toInputItems),
    ...addition.results.map(({ id, text: output }) => formatToolOutput(kinds.get(id) ?? '', id, output)),
  ];
}

/** The caller may have some of these items too, and give them back with their ids: one id may not stand twice, and reasoning cannot do without its own. */
function toInputItems(item: JsonObject): readonly JsonObject[] {
  if (item['type'] === 'reasoning') return [];
  const { id: _, ...rest } = item;
  return [item['type'] === 'mcp_approval_request' ? item : rest];
}

function formatToolOutput(kind: string, id: string, output: string): JsonObject {
  if (kind === 'mcp_approval_request')
    return { type: 'mcp_approval_response', approval_request_id: id, approve: false, reason: output };
  return { type: `${kind || 'function_call'}_output`, call_id: id, output };
}

function formatItem(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ role: 'assistant', content: part.text }];
  if (part.type !== 'tool-call') return [];
  return [{ type: 'function_call', call_id: part.id, name: part.tool, arguments: JSON.stringify(part.input) }];
}

function createResponsesAssembler(): StreamAssembler {
  let response: JsonObject = {};
  const items: JsonObject[] = [];
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      const item = asObject(data['item']);
      if (data['type'] === 'response.output_item.done') items.push(item);
      if (isObject(data['response'])) response = data['response'];
      return { mustHold: isCall(item) || asObjectArray(asObject(data['response'])['output']).some(isCall) };
    },
    // What the last event says counts, unless it says nothing of the output.
    response: () =>
      parseResponsesAnswer(
        asObjectArray(response['output']).length >= items.length ? response : { ...response, output: items },
      ),
  };
}

/** One response to the caller: begun once, its items and events counted on, and whole at its end. */
function continueResponsesStream(
  sent: readonly WireStreamEvent[],
): (event: WireStreamEvent) => WireStreamEvent | undefined {
  const events = sent.flatMap(({ data }) => (data === '[DONE]' ? [] : [data]));
  const items = events.flatMap((data) =>
    data['type'] === 'response.output_item.done' ? [asObject(data['item'])] : [],
  );
  const places = events.filter(({ type }) => type === 'response.output_item.added').length;
  let next = events.length;
  return (event) => {
    const { data } = event;
    if (data === '[DONE]') return event;
    const type = asString(data['type']);
    const opening = type === 'response.created' || type === 'response.in_progress' || type === 'response.queued';
    if (opening && events.length > 0) return undefined;
    const response = asObject(data['response']);
    return {
      ...event,
      data: {
        ...data,
        ...('sequence_number' in data ? { sequence_number: next++ } : {}),
        ...(typeof data['output_index'] === 'number' ? { output_index: data['output_index'] + places } : {}),
        ...(Array.isArray(response['output'])
          ? { response: { ...response, output: [...items, ...asObjectArray(response['output'])] } }
          : {}),
      },
    };
  };
}
