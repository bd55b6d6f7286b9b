// Anthropic's messages, as callers of any framework write them.
import {
  isObject,
  type FinishReason,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
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
import { all, argumentsIn, count, inner, list, opaque, text } from './reading.ts';

/** Anthropic's messages as a dialect. */
export const anthropicDialect: Dialect = {
  name: 'anthropic',
  markers: ['"tool_use"'],
  asked: (request) => ({
    model: text(request['model']),
    system: wordsIn(request['system']),
    tools: list(request['tools']).flatMap((tool) =>
      typeof tool['name'] === 'string'
        ? [{ name: tool['name'], description: text(tool['description']), input: inner(tool['input_schema']) }]
        : [],
    ),
    messages: all(request['messages']).map((message) => (isObject(message) ? messageOf(message) : null)),
  }),
  unguidable: () => undefined,
  withAdditions(request, additions) {
    const { messages } = request;
    if (!Array.isArray(messages) || additions.length === 0) return request;
    const places = byPlace(additions);
    return {
      ...request,
      ...withSystem(request['system'], systemWords(places)),
      messages: (messages as readonly Json[]).flatMap((message, i) => withAdded(message, places.get(i) ?? [])),
    };
  },
  answered: (response) =>
    answerFrom(list(response['content']), text(response['stop_reason']), inner(response['usage'])),
  assembler,
  joining,
  stopped: (request, stop) => ({
    ...frame(request),
    content: [{ type: 'text', text: stopWords(stop) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
  stoppedEvents(request, stop) {
    const message = {
      ...frame(request),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    const of = (type: string, data: JsonObject): StreamEvent => ({ event: type, data: { type, ...data } });
    return [
      of('message_start', { message }),
      of('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      of('content_block_delta', { index: 0, delta: { type: 'text_delta', text: stopWords(stop) } }),
      of('content_block_stop', { index: 0 }),
      of('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } }),
      of('message_stop', {}),
    ];
  },
  failure: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  failureEvent: (message) => ({ event: 'error', data: { type: 'error', error: { type: 'api_error', message } } }),
};

/** One message to the caller: its beginning has come, and its blocks are counted on. */
function joining(sent: readonly StreamEvent[]): (event: StreamEvent) => StreamEvent | undefined {
  const of = (type: string): number => sent.filter(({ data }) => data !== '[DONE]' && data['type'] === type).length;
  const begun = of('message_start') > 0;
  const blocks = of('content_block_start');
  return (event) => {
    const { data } = event;
    if (data === '[DONE]') return event;
    if (data['type'] === 'message_start') return begun ? undefined : event;
    return typeof data['index'] === 'number' ? { ...event, data: { ...data, index: data['index'] + blocks } } : event;
  };
}

function withSystem(system: Json | undefined, words: string): JsonObject {
  if (words === '') return {};
  if (!Array.isArray(system)) return { system: joined(text(system), words) };
  return { system: [...(system as readonly Json[]), { type: 'text', text: words }] };
}

const frame = (request: JsonObject): JsonObject => ({
  id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: text(request['model']),
});

const wordsIn = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => text(part['text']))
        .join('\n');

/** A message of a person's that holds results is what the tools said, with whatever the person said beside it. */
function messageOf({ role, content }: JsonObject): Message | null {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  if (role === 'assistant') return { role, parts: blocks.flatMap(answerPart) };
  if (role !== 'user') return null;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length)
    return {
      role: 'tool',
      parts: blocks.map((block) => (block['type'] === 'tool_result' ? resultPart(block) : userPart(block))),
    };
  return { role, parts: blocks.map(userPart) };
}

const userPart = (block: JsonObject): MessagePart =>
  block['type'] === 'text' ? { type: 'text', text: text(block['text']) } : opaque(block);

const resultPart = (block: JsonObject): MessagePart => ({
  type: 'tool-result',
  id: text(block['tool_use_id']),
  tool: '',
  text: wordsIn(block['content']),
  failed: block['is_error'] === true,
});

function answerPart(block: JsonObject): readonly MessagePart[] {
  if (block['type'] === 'text') return [{ type: 'text', text: text(block['text']) }];
  if (block['type'] !== 'tool_use') return [];
  return [{ type: 'tool-call', id: text(block['id']), tool: text(block['name']), input: block['input'] ?? {} }];
}

const finishes: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  refusal: 'refusal',
};

const answerFrom = (content: readonly JsonObject[], stop: string, usage: JsonObject): Told => ({
  message: { role: 'assistant', parts: content.flatMap(answerPart) },
  finish: finishes[stop] ?? 'other',
  usage: usageOf(usage),
  raw: content,
});

function usageOf(usage: JsonObject): Usage {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  const sum = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens].reduce<number>(
    (total, each) => total + (typeof each === 'number' ? each : 0),
    0,
  );
  return {
    ...(typeof input_tokens === 'number' ? { input: sum } : {}),
    ...count('output', output_tokens),
    ...count('cacheRead', cache_read_input_tokens),
    ...count('cacheWrite', cache_creation_input_tokens),
  };
}

/** Roles alternate here: notes join the message they follow, and a refused answer stands between two of the user's side. */
function withAdded(message: Json, additions: readonly Addition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    if (addition.type !== 'exchange') {
      const last = out.at(-1);
      const words = { type: 'text', text: addition.text };
      if (isObject(last) && last['role'] === 'user' && last['content'] !== undefined)
        out.splice(-1, 1, { ...last, content: [...blocksOf(last['content']), words] });
      else out.push({ role: 'user', content: [words] });
      continue;
    }
    const content = Array.isArray(addition.raw) ? addition.raw : addition.answer.parts.flatMap(blockOf);
    const results = addition.results.map(({ id, text: words }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: words,
      is_error: true,
    }));
    out.push({ role: 'assistant', content });
    if (results.length) out.push({ role: 'user', content: results });
  }
  return out;
}

const blocksOf = (content: Json | undefined): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : all(content);

function blockOf(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  return part.type === 'tool-call' ? [{ type: 'tool_use', id: part.id, name: part.tool, input: part.input }] : [];
}

function assembler(): Assembler {
  const blocks: Open[] = [];
  let stop = '';
  let usage: JsonObject = {};
  return {
    take({ data }) {
      if (data === '[DONE]') return { holds: false };
      const index = typeof data['index'] === 'number' ? data['index'] : 0;
      const delta = inner(data['delta']);
      if (data['type'] === 'message_start') usage = inner(inner(data['message'])['usage']);
      if (data['type'] === 'content_block_start') blocks.push({ index, block: inner(data['content_block']), json: '' });
      if (data['type'] === 'message_delta') {
        stop = text(delta['stop_reason']) || stop;
        usage = { ...usage, ...inner(data['usage']) };
      }
      const open = blocks.findLast((each) => each.index === index);
      if (data['type'] === 'content_block_delta' && open) grow(open, delta);
      return { holds: data['type'] === 'content_block_start' && open?.block['type'] === 'tool_use' };
    },
    answer: () => ({
      ...answerFrom(blocks.map(whole), stop, usage),
      message: { role: 'assistant', parts: blocks.flatMap(partsOf) },
    }),
  };
}

type Open = { readonly index: number; block: JsonObject; json: string };

function grow(open: Open, delta: JsonObject): void {
  if (typeof delta['partial_json'] === 'string') open.json += delta['partial_json'];
  for (const name of ['text', 'thinking', 'signature'])
    if (typeof delta[name] === 'string') open.block = { ...open.block, [name]: text(open.block[name]) + delta[name] };
}

const whole = ({ block, json }: Open): JsonObject =>
  block['type'] === 'tool_use' && json !== '' ? { ...block, input: argumentsIn(json).input } : block;

/** Clients read arguments that are cut off as far as they go, so these are not the same as none. */
const partsOf = (open: Open): readonly MessagePart[] =>
  answerPart(whole(open)).map((part) =>
    part.type === 'tool-call' && open.json !== '' ? { ...part, ...argumentsIn(open.json) } : part,
  );
