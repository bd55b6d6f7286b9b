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
import type { MessageAddition } from '../interceptor/caller-history.ts';
import {
  groupByPosition,
  formatStopMessage,
  getSystemAddition,
  type StreamAssembler,
  type WireFormat,
  type ParsedModelResponse,
} from './wire-format.ts';
import { asJsonArray, numberField, asObject, asObjectArray, toOpaquePart, asString } from './json.ts';

/** Gemini's contents as a dialect. */
export const geminiFormat: WireFormat = {
  name: 'gemini',
  toolCallMarkers: ['"functionCall"', '"function_call"', '"functioncall"'],
  parseRequest(request, path = '') {
    const contents = asJsonArray(request['contents']);
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      system: getPartsText(asObjectArray(asObject(getSystemInstruction(request))['parts'])),
      tools: asObjectArray(request['tools']).flatMap(({ functionDeclarations }) =>
        asObjectArray(functionDeclarations).flatMap(parseFunctionDeclaration),
      ),
      messages: contents.map((content, i) => (isObject(content) ? parseGeminiContent(content, contents[i - 1]) : null)),
    };
  },
  unsupportedReason: ({ generationConfig, tools }) =>
    Number(asObject(generationConfig)['candidateCount'] ?? 1) > 1 && Array.isArray(tools)
      ? 'Of several candidates at once only one could go on: ask for one where there are tools.'
      : undefined,
  insertAdditions(request, additions) {
    const { contents } = request;
    if (!Array.isArray(contents) || additions.length === 0) return request;
    const places = groupByPosition(additions);
    return {
      ...request,
      ...appendSystemText(request, getSystemAddition(places)),
      contents: (contents as readonly Json[]).flatMap((content, i) => insertAfterContent(content, places.get(i) ?? [])),
    };
  },
  parseResponse: parseGeminiResponse,
  createAssembler: createGeminiAssembler,
  continueStream: () => (event) => event,
  stopResponse: (_request, stop) => createTextResponse(formatStopMessage(stop)),
  stopEvents: (_request, stop) => [{ data: createTextResponse(formatStopMessage(stop)) }],
  errorBody: (message) => ({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  errorEvent: (message) => ({ data: { error: { code: 503, message, status: 'UNAVAILABLE' } } }),
};

const createTextResponse = (words: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text: words }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
});

/** Both spellings are taken by the service. */
const getSystemInstruction = (request: JsonObject): Json | undefined =>
  request['systemInstruction'] ?? request['system_instruction'];

function appendSystemText(request: JsonObject, words: string): JsonObject {
  if (words === '') return {};
  const name = request['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
  const system = asObject(request[name]);
  return { [name]: { ...system, parts: [...asJsonArray(system['parts']), { text: words }] } };
}

const parseFunctionDeclaration = (tool: JsonObject): readonly ToolSpec[] =>
  typeof tool['name'] === 'string'
    ? [
        {
          name: tool['name'],
          description: asString(tool['description']),
          input: asObject(tool['parametersJsonSchema'] ?? tool['parameters']),
        },
      ]
    : [];

const getPartsText = (parts: readonly JsonObject[]): string => parts.map((part) => asString(part['text'])).join('\n');

const getFunctionCall = (part: JsonObject): JsonObject | undefined => {
  const made = part['functionCall'] ?? part['function_call'];
  return isObject(made) ? made : undefined;
};

const getFunctionResponse = (part: JsonObject): JsonObject | undefined => {
  const made = part['functionResponse'] ?? part['function_response'];
  return isObject(made) ? made : undefined;
};

/** Calls have no ids here as a rule: the same call of the same answer gets the same one whenever it is read. */
function createCallIds(parts: readonly JsonObject[]): readonly string[] {
  const seen = new Map<string, number>();
  return parts.flatMap((part) => {
    const call = getFunctionCall(part);
    if (!call) return [];
    const name = `${asString(call['name'])}-${hash53(canonicalJson(call['args'] ?? {})).toString(36)}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return [asString(call['id']) || `${name}-${nth}`];
  });
}

function parseGeminiContent(content: JsonObject, before: Json | undefined): Message {
  const parts = asObjectArray(content['parts']);
  if (content['role'] === 'model') return { role: 'assistant', parts: parseModelParts(parts) };
  if (!parts.some(getFunctionResponse)) return { role: 'user', parts: parts.map(parseUserPart) };
  const ids = createCallIds(asObjectArray(asObject(before)['parts']));
  let nth = 0;
  return {
    role: 'tool',
    parts: parts.map((part): MessagePart => {
      const result = getFunctionResponse(part);
      return result ? parseToolResult(result, asString(result['id']) || (ids[nth++] ?? '')) : parseUserPart(part);
    }),
  };
}

const parseUserPart = (part: JsonObject): MessagePart =>
  typeof part['text'] === 'string' ? { type: 'text', text: part['text'] } : toOpaquePart(part);

function parseToolResult(result: JsonObject, id: string): MessagePart {
  const { error, output, result: told } = asObject(result['response']);
  const said = error ?? output ?? told ?? result['response'] ?? '';
  const words = typeof said === 'string' ? said : JSON.stringify(said);
  return { type: 'tool-result', id, tool: '', text: words, failed: error !== undefined };
}

function parseModelParts(parts: readonly JsonObject[]): readonly MessagePart[] {
  const ids = createCallIds(parts);
  let nth = 0;
  const words = getModelText(parts);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...parts.flatMap((part): readonly MessagePart[] => {
      const call = getFunctionCall(part);
      return call
        ? [{ type: 'tool-call', id: ids[nth++] ?? '', tool: asString(call['name']), input: call['args'] ?? {} }]
        : [];
    }),
  ];
}

/** Its words may come in any number of parts, and thoughts are none of them. */
const getModelText = (parts: readonly JsonObject[]): string =>
  parts.map((part) => (part['thought'] === true ? '' : asString(part['text']))).join('');

const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'refusal',
};

/** The parts of the first candidate, and the calls of others: nobody asked for those, but a client might make them. */
const getCandidateParts = (response: JsonObject): readonly JsonObject[] =>
  asObjectArray(response['candidates']).flatMap(({ content }, i) =>
    asObjectArray(asObject(content)['parts']).filter((part) => i === 0 || getFunctionCall(part)),
  );

function parseGeminiResponse(response: JsonObject): ParsedModelResponse {
  const [candidate = {}] = asObjectArray(response['candidates']);
  return createGeminiAnswer(
    getCandidateParts(response),
    asString(candidate['finishReason']),
    response['usageMetadata'],
  );
}

function createGeminiAnswer(
  parts: readonly JsonObject[],
  finish: string,
  usage: Json | undefined,
): ParsedModelResponse {
  const made = parseModelParts(parts);
  const calls = made.some(({ type }) => type === 'tool-call');
  return {
    message: { role: 'assistant', parts: made },
    finish: calls && finish === 'STOP' ? 'tool-calls' : (finishReasons[finish] ?? 'other'),
    usage: parseGeminiUsage(asObject(usage)),
    raw: parts.filter((part) => part['text'] !== ''),
  };
}

const parseGeminiUsage = (usage: JsonObject): Usage => ({
  ...numberField('input', usage['promptTokenCount']),
  ...numberField('output', usage['candidatesTokenCount']),
  ...numberField('cacheRead', usage['cachedContentTokenCount']),
  ...numberField('reasoning', usage['thoughtsTokenCount']),
});

/** Notes join the user's side, where there is one: neighbouring contents of one role are one turn to the service. */
function insertAfterContent(content: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [content];
  for (const addition of additions) {
    if (addition.type === 'exchange') {
      out.push(...formatDeniedAnswer(addition));
      continue;
    }
    const last = out.at(-1);
    const words = { text: addition.text };
    if (isObject(last) && last['role'] !== 'model' && Array.isArray(last['parts']))
      out.splice(-1, 1, { ...last, parts: [...asJsonArray(last['parts']), words] });
    else out.push({ role: 'user', parts: [words] });
  }
  return out;
}

function formatDeniedAnswer(addition: MessageAddition & { readonly type: 'exchange' }): readonly Json[] {
  const parts = Array.isArray(addition.raw) ? asObjectArray(addition.raw) : addition.answer.parts.flatMap(formatPart);
  const ids = parts.flatMap((part) => (getFunctionCall(part) ? [asString(getFunctionCall(part)?.['id'])] : []));
  const results = addition.results.map(({ tool, text: error }, i) => ({
    functionResponse: { ...(ids[i] ? { id: ids[i] } : {}), name: tool, response: { error } },
  }));
  return [{ role: 'model', parts }, ...(results.length ? [{ role: 'user', parts: results }] : [])];
}

function formatPart(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ text: part.text }];
  return part.type === 'tool-call' ? [{ functionCall: { name: part.tool, args: part.input } }] : [];
}

function createGeminiAssembler(): StreamAssembler {
  const parts: JsonObject[] = [];
  let finish = '';
  let usage: Json | undefined;
  return {
    push({ data }) {
      if (data === '[DONE]') return { mustHold: false };
      usage = data['usageMetadata'] ?? usage;
      const [candidate = {}] = asObjectArray(data['candidates']);
      finish = asString(candidate['finishReason']) || finish;
      const more = getCandidateParts(data);
      parts.push(...more);
      return { mustHold: more.some(getFunctionCall) };
    },
    response: () => createGeminiAnswer(parts, finish, usage),
  };
}
