// OpenAI's chat completions, as callers of any framework write them.
import {
  isObject,
  type ToolCallPart,
  type FinishReason,
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
import {
  asJsonArray,
  parseCallArguments,
  numberField,
  asObject,
  asObjectArray,
  toOpaquePart,
  asString,
} from './json.ts';

/** Chat completions as a dialect. */
export const chatFormat: WireFormat = {
  name: 'chat',
  toolCallMarkers: ['"tool_calls"'],
  parseRequest(request) {
    const messages = asJsonArray(request['messages']);
    return {
      model: asString(request['model']),
      system: messages.filter(isSystem).map(getContentText).join('\n\n'),
      tools: asObjectArray(request['tools']).flatMap(parseChatTool),
      messages: messages.map((message) => (isObject(message) ? parseChatMessage(message) : null)),
    };
  },
  unsupportedReason({ n, functions, tools }) {
    if (Array.isArray(functions)) return 'The old `functions` are not read: give the same as `tools`.';
    return typeof n === 'number' && n > 1 && Array.isArray(tools)
      ? 'Of several answers at once (`n`) only one could go on: ask for one where there are tools.'
      : undefined;
  },
  insertAdditions(request, additions) {
    const { messages } = request;
    if (!Array.isArray(messages) || additions.length === 0) return request;
    const places = groupByPosition(additions);
    const out = (messages as readonly Json[]).flatMap((message, i) => insertAfterMessage(message, places.get(i) ?? []));
    return { ...request, messages: appendSystemText(out, getSystemAddition(places)) };
  },
  parseResponse(response) {
    const [choice = {}, ...others] = asObjectArray(response['choices']);
    const message = asObject(choice['message']);
    // Nobody asked for others, but a client might make their calls.
    const more = others.flatMap((each) => asObjectArray(asObject(each['message'])['tool_calls']));
    const judged = more.length
      ? { ...message, tool_calls: [...asObjectArray(message['tool_calls']), ...more] }
      : message;
    return parseChatAnswer(judged, asString(choice['finish_reason']), asObject(response['usage']));
  },
  createAssembler: createChatAssembler,
  continueStream: () => (event) => event,
  stopResponse: (request, stop) => ({
    ...createChatEnvelope(request, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content: formatStopMessage(stop) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  stopEvents(request, stop) {
    const chunk = (delta: JsonObject, finish: string | null): WireStreamEvent => ({
      data: {
        ...createChatEnvelope(request, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    });
    return [
      chunk({ role: 'assistant', content: formatStopMessage(stop) }, null),
      chunk({}, 'stop'),
      { data: '[DONE]' },
    ];
  },
  errorBody: (message) => ({ error: { message, type: 'fairlead_error', param: null, code: null } }),
  errorEvent: (message) => ({ data: { error: { message, type: 'fairlead_error', param: null, code: null } } }),
};

const isSystem = (message: Json): message is JsonObject =>
  isObject(message) && (message['role'] === 'system' || message['role'] === 'developer');

/** What a completion, or a piece of one, begins with. */
export const createChatEnvelope = (request: JsonObject, object: string): JsonObject => ({
  id: `chatcmpl-${crypto.randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: asString(request['model']),
});

const parseChatTool = (tool: JsonObject): readonly ToolSpec[] => {
  const given = asObject(tool['function']);
  if (typeof given['name'] !== 'string') return [];
  return [{ name: given['name'], description: asString(given['description']), input: asObject(given['parameters']) }];
};

function getContentText({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return asObjectArray(content)
    .map((part) => asString(part['text']) || asString(part['refusal']))
    .join('\n');
}

function parseChatMessage(message: JsonObject): Message | null {
  const { role } = message;
  if (role === 'user') return { role, parts: parseUserParts(message) };
  if (role === 'assistant') return { role, parts: parseAssistantParts(message) };
  if (role !== 'tool') return null;
  const result = { id: asString(message['tool_call_id']), tool: '', text: getContentText(message), failed: false };
  return { role, parts: [{ type: 'tool-result', ...result }] };
}

const parseUserParts = (message: JsonObject): readonly MessagePart[] =>
  typeof message['content'] === 'string'
    ? [{ type: 'text', text: message['content'] }]
    : asObjectArray(message['content']).map((part): MessagePart =>
        part['type'] === 'text' ? { type: 'text', text: asString(part['text']) } : toOpaquePart(part),
      );

function parseAssistantParts(message: JsonObject): readonly MessagePart[] {
  const words = getContentText(message);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...asObjectArray(message['tool_calls']).map(parseChatCall),
  ];
}

function parseChatCall(call: JsonObject): ToolCallPart {
  const id = asString(call['id']);
  const made = asObject(call['function']);
  const free = asObject(call['custom']);
  if (call['type'] === 'custom')
    return { type: 'tool-call', id, tool: asString(free['name']), input: free['input'] ?? '' };
  return { type: 'tool-call', id, tool: asString(made['name']), ...parseCallArguments(asString(made['arguments'])) };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
};

/** Kept of an answer is what every server takes back. */
function parseChatAnswer(message: JsonObject, finish: string, usage: JsonObject): ParsedModelResponse {
  const { content = null, tool_calls } = message;
  return {
    message: { role: 'assistant', parts: parseAssistantParts(message) },
    finish: finishReasons[finish] ?? 'other',
    usage: parseChatUsage(usage),
    raw: { role: 'assistant', content, ...(Array.isArray(tool_calls) ? { tool_calls } : {}) },
  };
}

const parseChatUsage = ({ prompt_tokens, completion_tokens, prompt_tokens_details }: JsonObject): Usage => ({
  ...numberField('input', prompt_tokens),
  ...numberField('output', completion_tokens),
  ...numberField('cacheRead', asObject(prompt_tokens_details)['cached_tokens']),
});

/** Notes join a message of the user's, for many models want the sides to alternate; after anything else they are one. A refused answer is shown as the model gave it, with what it is told of its calls. */
function insertAfterMessage(message: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    const last = out.at(-1);
    if (addition.type === 'exchange') out.push(...formatDeniedAnswer(addition));
    else if (isObject(last) && last['role'] === 'user' && last['content'])
      out.splice(-1, 1, appendText(last, addition.text));
    else out.push({ role: 'user', content: addition.text });
  }
  return out;
}

const appendText = (message: JsonObject, words: string): JsonObject => ({
  ...message,
  content: Array.isArray(message['content'])
    ? [...(message['content'] as readonly Json[]), { type: 'text', text: words }]
    : joinParagraphs(asString(message['content']), words),
});

function appendSystemText(messages: readonly Json[], words: string): readonly Json[] {
  if (words === '') return messages;
  const at = messages.findIndex(isSystem);
  if (at < 0) return [{ role: 'system', content: words }, ...messages];
  return messages.with(at, appendText(messages[at] as JsonObject, words));
}

const formatDeniedAnswer = (addition: MessageAddition & { readonly type: 'exchange' }): readonly Json[] => [
  isObject(addition.raw) ? addition.raw : formatAssistantMessage(addition.answer),
  ...addition.results.map(({ id, text: content }) => ({ role: 'tool', tool_call_id: id, content })),
];

function formatAssistantMessage({ parts }: Message): JsonObject {
  const calls = parts.filter((part) => part.type === 'tool-call');
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return {
    role: 'assistant',
    content: words === '' ? null : words,
    ...(calls.length
      ? {
          tool_calls: calls.map(({ id, tool, input }) => ({
            id,
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(input) },
          })),
        }
      : {}),
  };
}

type PartialToolCall = {
  id: string;
  type: string;
  function?: { name: string; arguments: string };
  custom?: JsonObject;
};

function createChatAssembler(): StreamAssembler {
  let words = '';
  let finish = '';
  let usage: JsonObject = {};
  const calls: PartialToolCall[] = [];
  const places = new Map<string, number>();
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      if (isObject(data['usage'])) usage = data['usage'];
      const choices = asObjectArray(data['choices']);
      const [choice] = choices;
      if (!choice) return { mustHold: false };
      finish = asString(choice['finish_reason']) || finish;
      const delta = asObject(choice['delta']);
      words += asString(delta['content']) || asString(delta['refusal']);
      const pieces = choices.flatMap(({ index, delta: each }) =>
        asObjectArray(asObject(each)['tool_calls']).map((piece) => ({
          piece,
          place: `${String(index)} ${String(piece['index'])}`,
        })),
      );
      for (const { piece, place } of pieces) {
        const known = piece['index'] === undefined ? undefined : places.get(place);
        const at = known === undefined || startsAnotherCall(calls[known], piece) ? calls.length : known;
        places.set(place, at);
        calls[at] = appendCallDelta(calls[at], piece);
      }
      return { mustHold: pieces.length > 0 };
    },
    response() {
      const made = calls as readonly Json[];
      const message = {
        role: 'assistant',
        content: words === '' && made.length ? null : words,
        ...(made.length ? { tool_calls: made } : {}),
      };
      return parseChatAnswer(message, finish, usage);
    },
  };
}

/** Some servers give every call of an answer the same index, and clients tell them apart by their ids. */
const startsAnotherCall = (call: PartialToolCall | undefined, piece: JsonObject): boolean =>
  asString(piece['id']) !== '' &&
  asString(piece['id']) !== call?.id &&
  asString(asObject(piece['function'])['name']) !== '';

/** A call with another piece of it. What a server adds to a call beside its name and arguments, it wants back. */
function appendCallDelta(call: PartialToolCall | undefined, { index: _, ...piece }: JsonObject): PartialToolCall {
  const made = asObject(piece['function']);
  const free = asObject(piece['custom']);
  const type = asString(piece['type']) || call?.type || 'function';
  const more = { ...piece, ...call, id: call?.id || asString(piece['id']), type };
  if (type === 'custom') {
    const before = asObject(call?.custom);
    const input = asString(before['input']) + asString(free['input']);
    return { ...more, custom: { name: asString(before['name']) || asString(free['name']), input } };
  }
  const before = call?.function ?? { name: '', arguments: '' };
  // Some servers say the whole name with every piece, and clients read it once.
  const name = asString(made['name']) === before.name ? before.name : before.name + asString(made['name']);
  return { ...more, function: { name, arguments: before.arguments + asString(made['arguments']) } };
}
