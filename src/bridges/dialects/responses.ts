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
import type { Addition } from '../guide/given.ts';
import {
  byPlace,
  joined,
  stopWords,
  systemWords,
  type Assembler,
  type Dialect,
  type StreamEvent,
  type Told,
} from './dialect.ts';
import { finished, speech } from './responses-speech.ts';
import { all, argumentsIn, count, inner, list, opaque, text } from './reading.ts';

/** Responses as a dialect. */
export const responsesDialect: Dialect = {
  name: 'responses',
  markers: ['_call"', '"mcp_approval_request"'],
  asked(request) {
    const previous = text(request['previous_response_id']);
    return {
      model: text(request['model']),
      system: [text(request['instructions']), ...itemsOf(request).filter(isSystem).map(wordsOfSystem)]
        .filter(Boolean)
        .join('\n\n'),
      tools: list(request['tools']).flatMap(toolOf),
      messages: messagesOf(itemsOf(request)),
      ...(previous === '' ? {} : { follows: previous }),
    };
  },
  unguidable: ({ background }) =>
    background === true ? 'An answer in the background (`background`) would come past the guide.' : undefined,
  withAdditions(request, additions) {
    if (additions.length === 0) return request;
    const places = byPlace(additions);
    const words = systemWords(places);
    const items = itemsOf(request);
    const at = request['instructions'] ? -1 : items.findIndex(isSystem);
    const input = items.flatMap((item, i) => [
      i === at && words !== '' ? withWords(item as JsonObject, words) : item,
      ...(places.get(i) ?? []).flatMap(added),
    ]);
    // Where nothing but the instructions is added, the caller's input stays in the form it has.
    const changed = places.size > (places.has(-1) ? 1 : 0) || (at >= 0 && words !== '');
    return {
      ...request,
      ...(words === '' || at >= 0 ? {} : { instructions: joined(text(request['instructions']), words) }),
      ...(changed ? { input } : {}),
    };
  },
  answered: answerFrom,
  assembler,
  joining,
  stopped: (request, stop) => finished(request, stopWords(stop)),
  stoppedEvents(request, stop) {
    const { opening, delta, closing } = speech(finished(request, ''));
    const words = stopWords(stop);
    return [...opening, delta(words), ...closing(words)];
  },
  failure: (message) => ({ error: { message, type: 'fairlead_error', param: null, code: null } }),
  failureEvent: (message) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'fairlead_error', message, param: null },
  }),
};

const toolOf = (tool: JsonObject): readonly ToolSpec[] =>
  typeof tool['name'] === 'string'
    ? [{ name: tool['name'], description: text(tool['description']), input: inner(tool['parameters']) }]
    : [];

const itemsOf = ({ input }: JsonObject): readonly Json[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : all(input);

const isSystem = (item: Json): item is JsonObject =>
  isObject(item) && (item['role'] === 'system' || item['role'] === 'developer');

const wordsOfSystem = ({ content }: JsonObject): string => (typeof content === 'string' ? content : wordsIn(content));

const withWords = (item: JsonObject, words: string): JsonObject => ({
  ...item,
  content: Array.isArray(item['content'])
    ? [...all(item['content']), { type: 'input_text', text: words }]
    : joined(text(item['content']), words),
});

/** Whether the caller runs this: the provider's own tools are done when their items come, and have nothing to answer to. */
const isCall = ({ type, call_id }: JsonObject): boolean =>
  type === 'mcp_approval_request' || (text(type).endsWith('_call') && typeof call_id === 'string');

const isResult = ({ type }: JsonObject): boolean =>
  type === 'mcp_approval_response' || text(type).endsWith('_call_output');

/** Whether the model made it. */
const isAnswer = (item: Json): item is JsonObject =>
  isObject(item) && !isResult(item) && (item['role'] === 'assistant' || (item['role'] === undefined && 'type' in item));

/** What one answer made stands where its first item does: it is one message, and its other items pass with it. */
function messagesOf(items: readonly Json[]): readonly (Message | null)[] {
  return items.map((item, i): Message | null => {
    if (!isObject(item)) return null;
    if (isResult(item)) return { role: 'tool', parts: [resultOf(item)] };
    if (item['role'] === 'user') return { role: 'user', parts: userParts(item) };
    if (!isAnswer(item) || isAnswer(items[i - 1] ?? null)) return null;
    const end = items.findIndex((each, at) => at > i && !isAnswer(each));
    return {
      role: 'assistant',
      parts: (items.slice(i, end < 0 ? undefined : end) as JsonObject[]).flatMap(answerPart),
    };
  });
}

const resultOf = (item: JsonObject): MessagePart => ({
  type: 'tool-result',
  id: text(item['call_id']) || text(item['approval_request_id']),
  tool: '',
  text: typeof item['output'] === 'string' ? item['output'] : wordsIn(item['output']) || JSON.stringify(item),
  failed: item['status'] === 'incomplete',
});

const wordsIn = (content: Json | undefined): string =>
  list(content)
    .map((part) => text(part['text']) || text(part['refusal']))
    .join('\n');

const userParts = ({ content }: JsonObject): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content).map((part) =>
        part['type'] === 'input_text' ? { type: 'text', text: text(part['text']) } : opaque(part),
      );

function answerPart(item: JsonObject): readonly MessagePart[] {
  if (item['role'] === 'assistant') {
    const words = typeof item['content'] === 'string' ? item['content'] : wordsIn(item['content']);
    return words === '' ? [] : [{ type: 'text', text: words }];
  }
  if (!isCall(item)) return [];
  const id = text(item['call_id']) || text(item['id']);
  const tool = text(item['name']) || text(item['type']);
  if (typeof item['arguments'] === 'string')
    return [{ type: 'tool-call', id, tool, ...argumentsIn(item['arguments']) }];
  return [{ type: 'tool-call', id, tool, input: item['input'] ?? item['action'] ?? item['operation'] ?? {} }];
}

function answerFrom(response: JsonObject): Told {
  const output = list(response['output']);
  const parts = output.flatMap(answerPart);
  const id = text(response['id']);
  const calls = parts.some(({ type }) => type === 'tool-call');
  const cut = inner(response['incomplete_details'])['reason'];
  return {
    message: { role: 'assistant', parts },
    finish: cut === 'content_filter' ? 'filtered' : cut ? 'length' : calls ? 'tool-calls' : 'stop',
    usage: usageOf(inner(response['usage'])),
    raw: output,
    ...(id === '' ? {} : { id }),
  };
}

const usageOf = ({ input_tokens, output_tokens, input_tokens_details, output_tokens_details }: JsonObject): Usage => ({
  ...count('input', input_tokens),
  ...count('output', output_tokens),
  ...count('cacheRead', inner(input_tokens_details)['cached_tokens']),
  ...count('reasoning', inner(output_tokens_details)['reasoning_tokens']),
});

function added(addition: Addition): readonly Json[] {
  if (addition.type !== 'exchange') return [{ role: 'user', content: addition.text }];
  const items = Array.isArray(addition.raw) ? list(addition.raw) : addition.answer.parts.flatMap(itemOf);
  const kinds = new Map(items.map((item) => [text(item['call_id']) || text(item['id']), text(item['type'])]));
  return [
    ...items.flatMap(shownAgain),
    ...addition.results.map(({ id, text: output }) => resultItem(kinds.get(id) ?? '', id, output)),
  ];
}

/** The caller may have some of these items too, and give them back with their ids: one id may not stand twice, and reasoning cannot do without its own. */
function shownAgain(item: JsonObject): readonly JsonObject[] {
  if (item['type'] === 'reasoning') return [];
  const { id: _, ...rest } = item;
  return [item['type'] === 'mcp_approval_request' ? item : rest];
}

function resultItem(kind: string, id: string, output: string): JsonObject {
  if (kind === 'mcp_approval_request')
    return { type: 'mcp_approval_response', approval_request_id: id, approve: false, reason: output };
  return { type: `${kind || 'function_call'}_output`, call_id: id, output };
}

function itemOf(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ role: 'assistant', content: part.text }];
  if (part.type !== 'tool-call') return [];
  return [{ type: 'function_call', call_id: part.id, name: part.tool, arguments: JSON.stringify(part.input) }];
}

function assembler(): Assembler {
  let response: JsonObject = {};
  const items: JsonObject[] = [];
  return {
    take({ data }) {
      if (data === '[DONE]') return { holds: false };
      const item = inner(data['item']);
      if (data['type'] === 'response.output_item.done') items.push(item);
      if (isObject(data['response'])) response = data['response'];
      return { holds: isCall(item) || list(inner(data['response'])['output']).some(isCall) };
    },
    // What the last event says counts, unless it says nothing of the output.
    answer: () =>
      answerFrom(list(response['output']).length >= items.length ? response : { ...response, output: items }),
  };
}

/** One response to the caller: begun once, its items and events counted on, and whole at its end. */
function joining(sent: readonly StreamEvent[]): (event: StreamEvent) => StreamEvent | undefined {
  const events = sent.flatMap(({ data }) => (data === '[DONE]' ? [] : [data]));
  const items = events.flatMap((data) => (data['type'] === 'response.output_item.done' ? [inner(data['item'])] : []));
  const places = events.filter(({ type }) => type === 'response.output_item.added').length;
  let next = events.length;
  return (event) => {
    const { data } = event;
    if (data === '[DONE]') return event;
    const type = text(data['type']);
    const opening = type === 'response.created' || type === 'response.in_progress' || type === 'response.queued';
    if (opening && events.length > 0) return undefined;
    const response = inner(data['response']);
    return {
      ...event,
      data: {
        ...data,
        ...('sequence_number' in data ? { sequence_number: next++ } : {}),
        ...(typeof data['output_index'] === 'number' ? { output_index: data['output_index'] + places } : {}),
        ...(Array.isArray(response['output'])
          ? { response: { ...response, output: [...items, ...list(response['output'])] } }
          : {}),
      },
    };
  };
}
