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
import {
  asJsonArray,
  parseCallArguments,
  numberField,
  asObject,
  asObjectArray,
  toOpaquePart,
  asString,
} from './json.ts';

/** Anthropic's messages as a dialect. */
export const anthropicFormat: WireFormat = {
  name: 'anthropic',
  toolCallMarkers: ['"tool_use"'],
  parseRequest: (request) => ({
    model: asString(request['model']),
    system: getContentText(request['system']),
    tools: asObjectArray(request['tools']).flatMap((tool) =>
      typeof tool['name'] === 'string'
        ? [{ name: tool['name'], description: asString(tool['description']), input: asObject(tool['input_schema']) }]
        : [],
    ),
    messages: asJsonArray(request['messages']).map((message) =>
      isObject(message) ? parseAnthropicMessage(message) : null,
    ),
  }),
  unsupportedReason: () => undefined,
  insertAdditions(request, additions) {
    const { messages } = request;
    if (!Array.isArray(messages) || additions.length === 0) return request;
    const places = groupByPosition(additions);
    return {
      ...request,
      ...appendSystemText(request['system'], getSystemAddition(places)),
      messages: (messages as readonly Json[]).flatMap((message, i) => insertAfterMessage(message, places.get(i) ?? [])),
    };
  },
  parseResponse: (response) =>
    parseAnthropicAnswer(
      asObjectArray(response['content']),
      asString(response['stop_reason']),
      asObject(response['usage']),
    ),
  createAssembler: createAnthropicAssembler,
  continueStream: continueAnthropicStream,
  stopResponse: (request, stop) => ({
    ...createMessageEnvelope(request),
    content: [{ type: 'text', text: formatStopMessage(stop) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
  stopEvents(request, stop) {
    const message = {
      ...createMessageEnvelope(request),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    const of = (type: string, data: JsonObject): WireStreamEvent => ({ event: type, data: { type, ...data } });
    return [
      of('message_start', { message }),
      of('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      of('content_block_delta', { index: 0, delta: { type: 'text_delta', text: formatStopMessage(stop) } }),
      of('content_block_stop', { index: 0 }),
      of('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } }),
      of('message_stop', {}),
    ];
  },
  errorBody: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  errorEvent: (message) => ({ event: 'error', data: { type: 'error', error: { type: 'api_error', message } } }),
};

/** One message to the caller: its beginning has come, and its blocks are counted on. */
function continueAnthropicStream(
  sent: readonly WireStreamEvent[],
): (event: WireStreamEvent) => WireStreamEvent | undefined {
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

function appendSystemText(system: Json | undefined, words: string): JsonObject {
  if (words === '') return {};
  if (!Array.isArray(system)) return { system: joinParagraphs(asString(system), words) };
  return { system: [...(system as readonly Json[]), { type: 'text', text: words }] };
}

const createMessageEnvelope = (request: JsonObject): JsonObject => ({
  id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: asString(request['model']),
});

const getContentText = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : asObjectArray(content)
        .map((part) => asString(part['text']))
        .join('\n');

/** A message of a person's that holds results is what the tools said, with whatever the person said beside it. */
function parseAnthropicMessage({ role, content }: JsonObject): Message | null {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asObjectArray(content);
  if (role === 'assistant') return { role, parts: blocks.flatMap(parseAssistantBlock) };
  if (role !== 'user') return null;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length)
    return {
      role: 'tool',
      parts: blocks.map((block) => (block['type'] === 'tool_result' ? parseToolResult(block) : parseUserPart(block))),
    };
  return { role, parts: blocks.map(parseUserPart) };
}

const parseUserPart = (block: JsonObject): MessagePart =>
  block['type'] === 'text' ? { type: 'text', text: asString(block['text']) } : toOpaquePart(block);

const parseToolResult = (block: JsonObject): MessagePart => ({
  type: 'tool-result',
  id: asString(block['tool_use_id']),
  tool: '',
  text: getContentText(block['content']),
  failed: block['is_error'] === true,
});

function parseAssistantBlock(block: JsonObject): readonly MessagePart[] {
  if (block['type'] === 'text') return [{ type: 'text', text: asString(block['text']) }];
  if (block['type'] !== 'tool_use') return [];
  return [{ type: 'tool-call', id: asString(block['id']), tool: asString(block['name']), input: block['input'] ?? {} }];
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  refusal: 'refusal',
};

const parseAnthropicAnswer = (
  content: readonly JsonObject[],
  stop: string,
  usage: JsonObject,
): ParsedModelResponse => ({
  message: { role: 'assistant', parts: content.flatMap(parseAssistantBlock) },
  finish: finishReasons[stop] ?? 'other',
  usage: parseAnthropicUsage(usage),
  raw: content,
});

function parseAnthropicUsage(usage: JsonObject): Usage {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  const sum = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens].reduce<number>(
    (total, each) => total + (typeof each === 'number' ? each : 0),
    0,
  );
  return {
    ...(typeof input_tokens === 'number' ? { input: sum } : {}),
    ...numberField('output', output_tokens),
    ...numberField('cacheRead', cache_read_input_tokens),
    ...numberField('cacheWrite', cache_creation_input_tokens),
  };
}

/** Roles alternate here: notes join the message they follow, and a refused answer stands between two of the user's side. */
function insertAfterMessage(message: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    if (addition.type !== 'exchange') {
      const last = out.at(-1);
      const words = { type: 'text', text: addition.text };
      if (isObject(last) && last['role'] === 'user' && last['content'] !== undefined)
        out.splice(-1, 1, { ...last, content: [...toBlocks(last['content']), words] });
      else out.push({ role: 'user', content: [words] });
      continue;
    }
    const content = Array.isArray(addition.raw) ? addition.raw : addition.answer.parts.flatMap(formatBlock);
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

function formatBlock(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  return part.type === 'tool-call' ? [{ type: 'tool_use', id: part.id, name: part.tool, input: part.input }] : [];
}

function createAnthropicAssembler(): StreamAssembler {
  const blocks: OpenBlock[] = [];
  let stop = '';
  let usage: JsonObject = {};
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      const index = typeof data['index'] === 'number' ? data['index'] : 0;
      const delta = asObject(data['delta']);
      if (data['type'] === 'message_start') usage = asObject(asObject(data['message'])['usage']);
      if (data['type'] === 'content_block_start')
        blocks.push({ index, block: asObject(data['content_block']), json: '' });
      if (data['type'] === 'message_delta') {
        stop = asString(delta['stop_reason']) || stop;
        usage = { ...usage, ...asObject(data['usage']) };
      }
      const open = blocks.findLast((each) => each.index === index);
      if (data['type'] === 'content_block_delta' && open) appendBlockDelta(open, delta);
      return { mustHold: data['type'] === 'content_block_start' && open?.block['type'] === 'tool_use' };
    },
    response: () => ({
      ...parseAnthropicAnswer(blocks.map(finishBlock), stop, usage),
      message: { role: 'assistant', parts: blocks.flatMap(parseOpenBlock) },
    }),
  };
}

type OpenBlock = { readonly index: number; block: JsonObject; json: string };

function appendBlockDelta(open: OpenBlock, delta: JsonObject): void {
  if (typeof delta['partial_json'] === 'string') open.json += delta['partial_json'];
  for (const name of ['text', 'thinking', 'signature'])
    if (typeof delta[name] === 'string')
      open.block = { ...open.block, [name]: asString(open.block[name]) + delta[name] };
}

const finishBlock = ({ block, json }: OpenBlock): JsonObject =>
  block['type'] === 'tool_use' && json !== '' ? { ...block, input: parseCallArguments(json).input } : block;

/** Clients read arguments that are cut off as far as they go, so these are not the same as none. */
const parseOpenBlock = (open: OpenBlock): readonly MessagePart[] =>
  parseAssistantBlock(finishBlock(open)).map((part) =>
    part.type === 'tool-call' && open.json !== '' ? { ...part, ...parseCallArguments(open.json) } : part,
  );
