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

/** Chat completions as a dialect. */
export const chatDialect: Dialect = {
  name: 'chat',
  markers: ['"tool_calls"'],
  asked(request) {
    const messages = all(request['messages']);
    return {
      model: text(request['model']),
      system: messages.filter(isSystem).map(wordsOf).join('\n\n'),
      tools: list(request['tools']).flatMap(toolOf),
      messages: messages.map((message) => (isObject(message) ? messageOf(message) : null)),
    };
  },
  unguidable({ n, functions, tools }) {
    if (Array.isArray(functions)) return 'The old `functions` are not read: give the same as `tools`.';
    return typeof n === 'number' && n > 1 && Array.isArray(tools)
      ? 'Of several answers at once (`n`) only one could go on: ask for one where there are tools.'
      : undefined;
  },
  withAdditions(request, additions) {
    const { messages } = request;
    if (!Array.isArray(messages) || additions.length === 0) return request;
    const places = byPlace(additions);
    const out = (messages as readonly Json[]).flatMap((message, i) => withAdded(message, places.get(i) ?? []));
    return { ...request, messages: withSystem(out, systemWords(places)) };
  },
  answered(response) {
    const [choice = {}, ...others] = list(response['choices']);
    const message = inner(choice['message']);
    // Nobody asked for others, but a client might make their calls.
    const more = others.flatMap((each) => list(inner(each['message'])['tool_calls']));
    const judged = more.length ? { ...message, tool_calls: [...list(message['tool_calls']), ...more] } : message;
    return answerFrom(judged, text(choice['finish_reason']), inner(response['usage']));
  },
  assembler,
  joining: () => (event) => event,
  stopped: (request, stop) => ({
    ...frame(request, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content: stopWords(stop) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  stoppedEvents(request, stop) {
    const chunk = (delta: JsonObject, finish: string | null): StreamEvent => ({
      data: { ...frame(request, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    return [chunk({ role: 'assistant', content: stopWords(stop) }, null), chunk({}, 'stop'), { data: '[DONE]' }];
  },
  failure: (message) => ({ error: { message, type: 'fairlead_error', param: null, code: null } }),
  failureEvent: (message) => ({ data: { error: { message, type: 'fairlead_error', param: null, code: null } } }),
};

const isSystem = (message: Json): message is JsonObject =>
  isObject(message) && (message['role'] === 'system' || message['role'] === 'developer');

/** What a completion, or a piece of one, begins with. */
export const frame = (request: JsonObject, object: string): JsonObject => ({
  id: `chatcmpl-${crypto.randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: text(request['model']),
});

const toolOf = (tool: JsonObject): readonly ToolSpec[] => {
  const given = inner(tool['function']);
  if (typeof given['name'] !== 'string') return [];
  return [{ name: given['name'], description: text(given['description']), input: inner(given['parameters']) }];
};

function wordsOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(part['text']) || text(part['refusal']))
    .join('\n');
}

function messageOf(message: JsonObject): Message | null {
  const { role } = message;
  if (role === 'user') return { role, parts: userParts(message) };
  if (role === 'assistant') return { role, parts: answerParts(message) };
  if (role !== 'tool') return null;
  const result = { id: text(message['tool_call_id']), tool: '', text: wordsOf(message), failed: false };
  return { role, parts: [{ type: 'tool-result', ...result }] };
}

const userParts = (message: JsonObject): readonly MessagePart[] =>
  typeof message['content'] === 'string'
    ? [{ type: 'text', text: message['content'] }]
    : list(message['content']).map((part): MessagePart =>
        part['type'] === 'text' ? { type: 'text', text: text(part['text']) } : opaque(part),
      );

function answerParts(message: JsonObject): readonly MessagePart[] {
  const words = wordsOf(message);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...list(message['tool_calls']).map(callOf),
  ];
}

function callOf(call: JsonObject): ToolCallPart {
  const id = text(call['id']);
  const made = inner(call['function']);
  const free = inner(call['custom']);
  if (call['type'] === 'custom') return { type: 'tool-call', id, tool: text(free['name']), input: free['input'] ?? '' };
  return { type: 'tool-call', id, tool: text(made['name']), ...argumentsIn(text(made['arguments'])) };
}

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
};

/** Kept of an answer is what every server takes back. */
function answerFrom(message: JsonObject, finish: string, usage: JsonObject): Told {
  const { content = null, tool_calls } = message;
  return {
    message: { role: 'assistant', parts: answerParts(message) },
    finish: finishes[finish] ?? 'other',
    usage: usageOf(usage),
    raw: { role: 'assistant', content, ...(Array.isArray(tool_calls) ? { tool_calls } : {}) },
  };
}

const usageOf = ({ prompt_tokens, completion_tokens, prompt_tokens_details }: JsonObject): Usage => ({
  ...count('input', prompt_tokens),
  ...count('output', completion_tokens),
  ...count('cacheRead', inner(prompt_tokens_details)['cached_tokens']),
});

/** Notes join a message of the user's, for many models want the sides to alternate; after anything else they are one. A refused answer is shown as the model gave it, with what it is told of its calls. */
function withAdded(message: Json, additions: readonly Addition[]): readonly Json[] {
  const out: Json[] = [message];
  for (const addition of additions) {
    const last = out.at(-1);
    if (addition.type === 'exchange') out.push(...exchanged(addition));
    else if (isObject(last) && last['role'] === 'user' && last['content'])
      out.splice(-1, 1, withWords(last, addition.text));
    else out.push({ role: 'user', content: addition.text });
  }
  return out;
}

const withWords = (message: JsonObject, words: string): JsonObject => ({
  ...message,
  content: Array.isArray(message['content'])
    ? [...(message['content'] as readonly Json[]), { type: 'text', text: words }]
    : joined(text(message['content']), words),
});

function withSystem(messages: readonly Json[], words: string): readonly Json[] {
  if (words === '') return messages;
  const at = messages.findIndex(isSystem);
  if (at < 0) return [{ role: 'system', content: words }, ...messages];
  return messages.with(at, withWords(messages[at] as JsonObject, words));
}

const exchanged = (addition: Addition & { readonly type: 'exchange' }): readonly Json[] => [
  isObject(addition.raw) ? addition.raw : answerIn(addition.answer),
  ...addition.results.map(({ id, text: content }) => ({ role: 'tool', tool_call_id: id, content })),
];

function answerIn({ parts }: Message): JsonObject {
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

type Piece = { id: string; type: string; function?: { name: string; arguments: string }; custom?: JsonObject };

function assembler(): Assembler {
  let words = '';
  let finish = '';
  let usage: JsonObject = {};
  const calls: Piece[] = [];
  const places = new Map<string, number>();
  return {
    take({ data }) {
      if (data === '[DONE]') return { holds: false };
      if (isObject(data['usage'])) usage = data['usage'];
      const choices = list(data['choices']);
      const [choice] = choices;
      if (!choice) return { holds: false };
      finish = text(choice['finish_reason']) || finish;
      const delta = inner(choice['delta']);
      words += text(delta['content']) || text(delta['refusal']);
      const pieces = choices.flatMap(({ index, delta: each }) =>
        list(inner(each)['tool_calls']).map((piece) => ({
          piece,
          place: `${String(index)} ${String(piece['index'])}`,
        })),
      );
      for (const { piece, place } of pieces) {
        const known = piece['index'] === undefined ? undefined : places.get(place);
        const at = known === undefined || isAnother(calls[known], piece) ? calls.length : known;
        places.set(place, at);
        calls[at] = grown(calls[at], piece);
      }
      return { holds: pieces.length > 0 };
    },
    answer() {
      const made = calls as readonly Json[];
      const message = {
        role: 'assistant',
        content: words === '' && made.length ? null : words,
        ...(made.length ? { tool_calls: made } : {}),
      };
      return answerFrom(message, finish, usage);
    },
  };
}

/** Some servers give every call of an answer the same index, and clients tell them apart by their ids. */
const isAnother = (call: Piece | undefined, piece: JsonObject): boolean =>
  text(piece['id']) !== '' && text(piece['id']) !== call?.id && text(inner(piece['function'])['name']) !== '';

/** A call with another piece of it. What a server adds to a call beside its name and arguments, it wants back. */
function grown(call: Piece | undefined, { index: _, ...piece }: JsonObject): Piece {
  const made = inner(piece['function']);
  const free = inner(piece['custom']);
  const type = text(piece['type']) || call?.type || 'function';
  const more = { ...piece, ...call, id: call?.id || text(piece['id']), type };
  if (type === 'custom') {
    const before = inner(call?.custom);
    const input = text(before['input']) + text(free['input']);
    return { ...more, custom: { name: text(before['name']) || text(free['name']), input } };
  }
  const before = call?.function ?? { name: '', arguments: '' };
  // Some servers say the whole name with every piece, and clients read it once.
  const name = text(made['name']) === before.name ? before.name : before.name + text(made['name']);
  return { ...more, function: { name, arguments: before.arguments + text(made['arguments']) } };
}
