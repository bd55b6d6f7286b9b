// Parses Google generateContent requests and inserts additions into them.
import {
  canonicalJson,
  hash53,
  isObject,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolSpec,
} from '../../core/index.ts';
import { parseGoogleModel } from '../detect.ts';
import { asJsonArray, asObject, asObjectArray, asString, toOpaquePart, toUnknownMessage } from '../fields.ts';
import { getSystemAddition, groupByPosition, type MessageAddition, type ParsedModelRequest } from '../wire-format.ts';

/** Parses a request body; the model is in the path. */
export function parseGoogleRequest(request: JsonObject, path = ''): ParsedModelRequest {
  const contents = asJsonArray(request['contents']);
  return {
    model: parseGoogleModel(path),
    // The service accepts both spellings.
    system: getPartsText(
      asObjectArray(asObject(request['systemInstruction'] ?? request['system_instruction'])['parts']),
    ),
    tools: asObjectArray(request['tools']).flatMap(({ functionDeclarations }) =>
      asObjectArray(functionDeclarations).flatMap(parseFunctionDeclaration),
    ),
    messages: contents.map((content, i) =>
      isObject(content) ? parseContent(content, contents[i - 1]) : toUnknownMessage(content),
    ),
  };
}

const parseFunctionDeclaration = ({
  name,
  description,
  parametersJsonSchema,
  parameters,
}: JsonObject): readonly ToolSpec[] =>
  typeof name === 'string'
    ? [{ name, description: asString(description), input: asObject(parametersJsonSchema ?? parameters) }]
    : [];

const getPartsText = (parts: readonly JsonObject[]): string => parts.map((part) => asString(part['text'])).join('\n');

/** Returns the function call in a part, if it has one. */
export const getFunctionCall = (part: JsonObject): JsonObject | undefined => {
  const call = part['functionCall'] ?? part['function_call'];
  return isObject(call) ? call : undefined;
};

const getFunctionCalls = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.map(getFunctionCall).filter((call) => call !== undefined);

const getFunctionResponse = (part: JsonObject): JsonObject | undefined => {
  const response = part['functionResponse'] ?? part['function_response'];
  return isObject(response) ? response : undefined;
};

/** Function calls usually have no id: an id made from the name and arguments is the same whenever the response is parsed. */
function createCallIds(parts: readonly JsonObject[]): readonly string[] {
  const counts = new Map<string, number>();
  return getFunctionCalls(parts).map((call) => {
    const name = `${asString(call['name'])}-${hash53(canonicalJson(call['args'] ?? {})).toString(36)}`;
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    return asString(call['id']) || `${name}-${nth}`;
  });
}

function parseContent(content: JsonObject, before: Json | undefined): Message {
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

function parseToolResult({ response }: JsonObject, id: string): MessagePart {
  const { error, output, result } = asObject(response);
  const value = error ?? output ?? result ?? response ?? '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { type: 'tool-result', id, tool: '', text, failed: error !== undefined };
}

/** Parses the parts of a model's content: its text without thoughts, then its calls. */
export function parseModelParts(parts: readonly JsonObject[]): readonly MessagePart[] {
  const ids = createCallIds(parts);
  const text = parts.map((part) => (part['thought'] === true ? '' : asString(part['text']))).join('');
  const calls = getFunctionCalls(parts);
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls.map(({ name, args }, i): MessagePart => ({
      type: 'tool-call',
      id: ids[i] ?? '',
      tool: asString(name),
      input: args ?? {},
    })),
  ];
}

/** Inserts additions into a request body. */
export function insertGoogleAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject {
  const { contents } = request;
  if (!Array.isArray(contents) || additions.length === 0) return request;
  const groups = groupByPosition(additions);
  return {
    ...request,
    ...appendSystemText(request, getSystemAddition(groups)),
    contents: (contents as readonly Json[]).flatMap((content, i) => insertAfter(content, groups.get(i) ?? [])),
  };
}

function appendSystemText(request: JsonObject, text: string): JsonObject {
  if (text === '') return {};
  const name = request['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
  const system = asObject(request[name]);
  return { [name]: { ...system, parts: [...asJsonArray(system['parts']), { text }] } };
}

/** A note is appended to a user content if it follows one: the service reads neighbouring contents of one role as one turn. */
function insertAfter(content: Json, additions: readonly MessageAddition[]): readonly Json[] {
  const out: Json[] = [content];
  for (const addition of additions) {
    if (addition.type === 'exchange') {
      out.push(...writeDeniedResponse(addition));
      continue;
    }
    const last = out.at(-1);
    const part = { text: addition.text };
    if (isObject(last) && last['role'] !== 'model' && Array.isArray(last['parts']))
      out.splice(-1, 1, { ...last, parts: [...asJsonArray(last['parts']), part] });
    else out.push({ role: 'user', parts: [part] });
  }
  return out;
}

function writeDeniedResponse(addition: MessageAddition & { readonly type: 'exchange' }): readonly Json[] {
  const parts = Array.isArray(addition.raw)
    ? asObjectArray(addition.raw as Json)
    : addition.answer.parts.flatMap(writePart);
  const calls = getFunctionCalls(parts);
  const results = addition.results.map(({ tool, text: error }, i) => {
    const id = asString(calls[i]?.['id']);
    return { functionResponse: { ...(id ? { id } : {}), name: tool, response: { error } } };
  });
  return [{ role: 'model', parts }, ...(results.length ? [{ role: 'user', parts: results }] : [])];
}

function writePart(part: MessagePart): readonly JsonObject[] {
  if (part.type === 'text') return [{ text: part.text }];
  return part.type === 'tool-call' ? [{ functionCall: { name: part.tool, args: part.input } }] : [];
}
