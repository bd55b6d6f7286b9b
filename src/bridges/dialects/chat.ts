// OpenAI's chat completions, as callers of any framework write them.
import {
  isObject,
  type CallPart,
  type Finish,
  type JsonObject,
  type Message,
  type Part,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import type { Addition } from '../guide/given.ts';
import type { Answered } from '../guide/guide.ts';
import { argumentsIn, count, inner, list, text } from './reading.ts';
import { stopWords, type Assembler, type Dialect, type StreamEvent } from './dialect.ts';

/** Chat completions. */
export const chatDialect: Dialect = {
  name: 'chat',
  asked(request) {
    const messages = list(request['messages']);
    const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';
    return {
      model: text(request['model']),
      system: messages.filter(isSystem).map(wordsOf).join('\n\n'),
      tools: list(request['tools']).flatMap(toolOf),
      messages: messages.map((message) => (isSystem(message) ? null : messageOf(message))),
    };
  },
  withAdditions: (request, additions) => ({
    ...request,
    messages: list(request['messages']).flatMap((message, i) => [
      message,
      ...additions.filter(({ after }) => after === i).flatMap(added),
    ]),
  }),
  answered: (response) => {
    const choice = list(response['choices'])[0] ?? {};
    return answerFrom(inner(choice['message']), text(choice['finish_reason']), inner(response['usage']));
  },
  assembler,
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
};

const frame = (request: JsonObject, object: string): JsonObject => ({
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

const userParts = (message: JsonObject): readonly Part[] =>
  typeof message['content'] === 'string'
    ? [{ type: 'text', text: message['content'] }]
    : list(message['content']).map((part): Part =>
        part['type'] === 'text'
          ? { type: 'text', text: text(part['text']) }
          : { type: 'file', mediaType: 'application/octet-stream', data: JSON.stringify(part) },
      );

function answerParts(message: JsonObject): readonly Part[] {
  const words = wordsOf(message);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...list(message['tool_calls']).map(callOf),
  ];
}

function callOf(call: JsonObject): CallPart {
  const made = inner(call['function']);
  return { type: 'tool-call', id: text(call['id']), tool: text(made['name']), ...argumentsIn(text(made['arguments'])) };
}

const finishes: Readonly<Record<string, Finish>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  content_filter: 'filtered',
};

function answerFrom(message: JsonObject, finish: string, usage: JsonObject): Answered {
  return {
    message: { role: 'assistant', parts: answerParts(message) },
    finish: finishes[finish] ?? 'other',
    usage: usageOf(usage),
    raw: message,
  };
}

const usageOf = ({ prompt_tokens, completion_tokens, prompt_tokens_details }: JsonObject): Usage => ({
  ...count('input', prompt_tokens),
  ...count('output', completion_tokens),
  ...count('cacheRead', inner(prompt_tokens_details)['cached_tokens']),
});

/** Notes are a message of the user's side; a refused answer is shown as the model gave it, with what it is told of its calls. */
function added(addition: Addition): readonly JsonObject[] {
  if (addition.type === 'notes') return [{ role: 'user', content: addition.text }];
  return [
    isObject(addition.raw) ? addition.raw : answerIn(addition.answer),
    ...addition.results.map(({ id, text: content }) => ({ role: 'tool', tool_call_id: id, content })),
  ];
}

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

function assembler(): Assembler {
  let words = '';
  let finish = '';
  let usage: JsonObject = {};
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  return {
    take({ data }) {
      if (data === '[DONE]') return { holds: false };
      if (isObject(data['usage'])) usage = data['usage'];
      const choice = list(data['choices'])[0];
      if (!choice) return { holds: false };
      finish = text(choice['finish_reason']) || finish;
      const delta = inner(choice['delta']);
      words += text(delta['content']);
      const pieces = list(delta['tool_calls']);
      for (const piece of pieces) {
        const at = typeof piece['index'] === 'number' ? piece['index'] : calls.length;
        const call = (calls[at] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
        const made = inner(piece['function']);
        call.id ||= text(piece['id']);
        call.function.name += text(made['name']);
        call.function.arguments += text(made['arguments']);
      }
      return { holds: pieces.length > 0 };
    },
    answer() {
      const made = calls.filter(Boolean);
      const message = {
        role: 'assistant',
        content: words === '' && made.length ? null : words,
        ...(made.length ? { tool_calls: made } : {}),
      };
      return answerFrom(message, finish, usage);
    },
  };
}
