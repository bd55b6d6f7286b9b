// Google's generateContent, as callers of any framework write it on the wire.
import {
  canonicalJson,
  hash53,
  isObject,
  type FinishReason,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import type { Addition } from '../guide/given.ts';
import { byPlace, stopWords, systemWords, type Assembler, type Dialect, type Told } from './dialect.ts';
import { all, count, inner, list, opaque, text } from './reading.ts';

/** Gemini's contents as a dialect. */
export const geminiDialect: Dialect = {
  name: 'gemini',
  markers: ['"functionCall"', '"function_call"', '"functioncall"'],
  asked(request, path = '') {
    const contents = all(request['contents']);
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      system: wordsIn(list(inner(systemOf(request))['parts'])),
      tools: list(request['tools']).flatMap(({ functionDeclarations }) => list(functionDeclarations).flatMap(toolOf)),
      messages: contents.map((content, i) => (isObject(content) ? messageOf(content, contents[i - 1]) : null)),
    };
  },
  unguidable: ({ generationConfig, tools }) =>
    Number(inner(generationConfig)['candidateCount'] ?? 1) > 1 && Array.isArray(tools)
      ? 'Of several candidates at once only one could go on: ask for one where there are tools.'
      : undefined,
  withAdditions(request, additions) {
    const { contents } = request;
    if (!Array.isArray(contents) || additions.length === 0) return request;
    const places = byPlace(additions);
    return {
      ...request,
      ...withSystem(request, systemWords(places)),
      contents: (contents as readonly Json[]).flatMap((content, i) => withAdded(content, places.get(i) ?? [])),
    };
  },
  answered: answerFrom,
  assembler,
  joining: () => (event) => event,
  stopped: (_request, stop) => finished(stopWords(stop)),
  stoppedEvents: (_request, stop) => [{ data: finished(stopWords(stop)) }],
  failure: (message) => ({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  failureEvent: (message) => ({ data: { error: { code: 503, message, status: 'UNAVAILABLE' } } }),
};

const finished = (words: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text: words }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
});

/** Both spellings are taken by the service. */
const systemOf = (request: JsonObject): Json | undefined =>
  request['systemInstruction'] ?? request['system_instruction'];

function withSystem(request: JsonObject, words: string): JsonObject {
  if (words === '') return {};
  const name = request['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
  const system = inner(request[name]);
  return { [name]: { ...system, parts: [...all(system['parts']), { text: words }] } };
}

const toolOf = (tool: JsonObject): readonly ToolSpec[] =>
  typeof tool['name'] === 'string'
    ? [
        {
          name: tool['name'],
          description: text(tool['description']),
          input: inner(tool['parametersJsonSchema'] ?? tool['parameters']),
        },
      ]
    : [];

const wordsIn = (parts: readonly JsonObject[]): string => parts.map((part) => text(part['text'])).join('\n');

const callIn = (part: JsonObject): JsonObject | undefined => {
  const made = part['functionCall'] ?? part['function_call'];
  return isObject(made) ? made : undefined;
};

const resultIn = (part: JsonObject): JsonObject | undefined => {
  const made = part['functionResponse'] ?? part['function_response'];
  return isObject(made) ? made : undefined;
};

/** Calls have no ids here as a rule: the same call of the same answer gets the same one whenever it is read. */
function callIds(parts: readonly JsonObject[]): readonly string[] {
  const seen = new Map<string, number>();
  return parts.flatMap((part) => {
    const call = callIn(part);
    if (!call) return [];
    const name = `${text(call['name'])}-${hash53(canonicalJson(call['args'] ?? {})).toString(36)}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return [text(call['id']) || `${name}-${nth}`];
  });
}

function messageOf(content: JsonObject, before: Json | undefined): Message {
  const parts = list(content['parts']);
  if (content['role'] === 'model') return { role: 'assistant', parts: answerParts(parts) };
  if (!parts.some(resultIn)) return { role: 'user', parts: parts.map(userPart) };
  const ids = callIds(list(inner(before)['parts']));
  let nth = 0;
  return {
    role: 'tool',
    parts: parts.map((part): MessagePart => {
      const result = resultIn(part);
      return result ? resultPart(result, text(result['id']) || (ids[nth++] ?? '')) : userPart(part);
    }),
  };
}

const userPart = (part: JsonObject): MessagePart =>
  typeof part['text'] === 'string' ? { type: 'text', text: part['text'] } : opaque(part);

function resultPart(result: JsonObject, id: string): MessagePart {
  const { error, output, result: told } = inner(result['response']);
  const said = error ?? output ?? told ?? result['response'] ?? '';
  const words = typeof said === 'string' ? said : JSON.stringify(said);
  return { type: 'tool-result', id, tool: '', text: words, failed: error !== undefined };
}

function answerParts(parts: readonly JsonObject[]): readonly MessagePart[] {
  const ids = callIds(parts);
  let nth = 0;
  const words = wordsOfAnswer(parts);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...parts.flatMap((part): readonly MessagePart[] => {
      const call = callIn(part);
      return call
        ? [{ type: 'tool-call', id: ids[nth++] ?? '', tool: text(call['name']), input: call['args'] ?? {} }]
        : [];
    }),
  ];
}

/** Its words may come in any number of parts, and thoughts are none of them. */
const wordsOfAnswer = (parts: readonly JsonObject[]): string =>
  parts.map((part) => (part['thought'] === true ? '' : text(part['text']))).join('');

const finishes: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'refusal',
};

/** The parts of the first candidate, and the calls of others: nobody asked for those, but a client might make them. */
const partsIn = (response: JsonObject): readonly JsonObject[] =>
  list(response['candidates']).flatMap(({ content }, i) =>
    list(inner(content)['parts']).filter((part) => i === 0 || callIn(part)),
  );

function answerFrom(response: JsonObject): Told {
  const [candidate = {}] = list(response['candidates']);
  return told(partsIn(response), text(candidate['finishReason']), response['usageMetadata']);
}

function told(parts: readonly JsonObject[], finish: string, usage: Json | undefined): Told {
  const made = answerParts(parts);
  const calls = made.some(({ type }) => type === 'tool-call');
  return {
    message: { role: 'assistant', parts: made },
    finish: calls && finish === 'STOP' ? 'tool-calls' : (finishes[finish] ?? 'other'),
    usage: usageOf(inner(usage)),
    raw: parts.filter((part) => part['text'] !== ''),
  };
}

const usageOf = (usage: JsonObject): Usage => ({
  ...count('input', usage['promptTokenCount']),
  ...count('output', usage['candidatesTokenCount']),
  ...count('cacheRead', usage['cachedContentTokenCount']),
  ...count('reasoning', usage['thoughtsTokenCount']),
});

/** Notes join the user's side, where there is one: neighbouring contents of one role are one turn to the service. */
function withAdded(content: Json, additions: readonly Addition[]): readonly Json[] {
  const out: Json[] = [content];
  for (const addition of additions) {
    if (addition.type === 'exchange') {
      out.push(...exchanged(addition));
      continue;
    }
    const last = out.at(-1);
    const words = { text: addition.text };
    if (isObject(last) && last['role'] !== 'model' && Array.isArray(last['parts']))
      out.splice(-1, 1, { ...last, parts: [...all(last['parts']), words] });
    else out.push({ role: 'user', parts: [words] });
  }
  return out;
}

function exchanged(addition: Addition & { readonly type: 'exchange' }): readonly Json[] {
  const parts = Array.isArray(addition.raw) ? list(addition.raw) : addition.answer.parts.flatMap(partOf);
  const ids = parts.flatMap((part) => (callIn(part) ? [text(callIn(part)?.['id'])] : []));
  const results = addition.results.map(({ tool, text: error }, i) => ({
    functionResponse: { ...(ids[i] ? { id: ids[i] } : {}), name: tool, response: { error } },
  }));
  return [{ role: 'model', parts }, ...(results.length ? [{ role: 'user', parts: results }] : [])];
}

function partOf(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ text: part.text }];
  return part.type === 'tool-call' ? [{ functionCall: { name: part.tool, args: part.input } }] : [];
}

function assembler(): Assembler {
  const parts: JsonObject[] = [];
  let finish = '';
  let usage: Json | undefined;
  return {
    take({ data }) {
      if (data === '[DONE]') return { holds: false };
      usage = data['usageMetadata'] ?? usage;
      const [candidate = {}] = list(data['candidates']);
      finish = text(candidate['finishReason']) || finish;
      const more = partsIn(data);
      parts.push(...more);
      return { holds: more.some(callIn) };
    },
    answer: () => told(parts, finish, usage),
  };
}
