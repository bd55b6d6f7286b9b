// The items of OpenAI's Agents SDK as a guide reads them, and what the guide adds as items.
import {
  isObject,
  toJson,
  type FinishReason,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import { byPlace, joined, systemWords, type Reading, type Told } from '../dialects/dialect.ts';
import { argumentsIn, count, inner, list, opaque, text } from '../dialects/reading.ts';
import type { Addition } from '../guide/given.ts';

/** A request of the runner's as a guide sees it. */
export const readingOf = (request: JsonObject, model: string): Reading => ({
  model,
  system: text(request['systemInstructions']),
  tools: [
    ...list(request['tools']).map((tool): ToolSpec => ({
      name: text(tool['name']),
      description: text(tool['description']),
      input: inner(toJson(tool['parameters'])),
    })),
    ...list(request['handoffs']).map((handoff): ToolSpec => ({
      name: text(handoff['toolName']),
      description: text(handoff['toolDescription']),
      input: inner(toJson(handoff['inputJsonSchema'])),
    })),
  ],
  messages: messagesOf(itemsOf(request)),
  ...(typeof request['previousResponseId'] === 'string' ? { follows: request['previousResponseId'] } : {}),
});

const itemsOf = ({ input }: JsonObject): readonly JsonObject[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : list(input);

const isResult = ({ type }: JsonObject): boolean => /_call_(result|output)$/.test(text(type));
const isAnswer = (item: JsonObject | undefined): boolean =>
  item !== undefined && !isResult(item) && (item['role'] === 'assistant' || item['role'] === undefined);

/** What one answer made stands where its first item does: it is one message, and its other items pass with it. */
const messagesOf = (items: readonly JsonObject[]): readonly (Message | null)[] =>
  items.map((item, i): Message | null => {
    if (isResult(item)) return { role: 'tool', parts: [resultOf(item)] };
    if (item['role'] === 'user') return { role: 'user', parts: userParts(item) };
    if (!isAnswer(item) || isAnswer(items[i - 1])) return null;
    const end = items.findIndex((each, at) => at > i && !isAnswer(each));
    return { role: 'assistant', parts: items.slice(i, end < 0 ? undefined : end).flatMap(answerPart) };
  });

const userParts = ({ content }: JsonObject): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content).map((part) =>
        part['type'] === 'input_text' ? { type: 'text', text: text(part['text']) } : opaque(toJson(part)),
      );

const wordsIn = (content: Json | undefined): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => text(part['text']) || text(part['refusal']))
        .join('\n');

function resultOf(item: JsonObject): MessagePart {
  const { output } = item;
  const words = isObject(output) ? text(output['text']) : wordsIn(output);
  return {
    type: 'tool-result',
    id: text(item['callId']),
    tool: text(item['name']),
    text: words || JSON.stringify(toJson(output ?? '')),
    // A tool that throws is a completed call for the SDK, and its result begins with these words.
    failed: item['status'] !== 'completed' || words.startsWith('An error occurred while running the tool'),
  };
}

/** What a service did by itself by the time it is told. Every other call is the runner's to make, those that we do not know of too. */
const done = new Set(['hosted_tool_call', 'tool_search_call']);
const isCall = ({ type }: JsonObject): boolean => text(type).endsWith('_call') && !done.has(text(type));

function answerPart(item: JsonObject): readonly MessagePart[] {
  if (item['role'] === 'assistant') {
    const words = wordsIn(item['content']);
    return words === '' ? [] : [{ type: 'text', text: words }];
  }
  if (!isCall(item)) return [];
  const id = text(item['callId']);
  if (item['type'] === 'function_call')
    return [{ type: 'tool-call', id, tool: text(item['name']), ...argumentsIn(text(item['arguments'])) }];
  const tool = text(item['type']).replace(/_call$/, '');
  return [{ type: 'tool-call', id, tool, input: toJson(item['action'] ?? item['actions'] ?? item['operation'] ?? {}) }];
}

/** The model's answer as a guide sees it. */
export function toldOf(output: readonly JsonObject[], usage: Json | undefined, id: Json | undefined): Told {
  const parts = output.flatMap(answerPart);
  const finish: FinishReason = parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
  return {
    message: { role: 'assistant', parts },
    finish,
    usage: usageOf(inner(usage)),
    raw: toJson(output),
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
  };
}

function usageOf({ inputTokens, outputTokens, inputTokensDetails, outputTokensDetails }: JsonObject): Usage {
  const first = (details: Json | undefined): JsonObject => list(details)[0] ?? inner(details);
  return {
    ...count('input', inputTokens),
    ...count('output', outputTokens),
    ...count('cacheRead', first(inputTokensDetails)['cached_tokens']),
    ...count('reasoning', first(outputTokensDetails)['reasoning_tokens']),
  };
}

/** The request with the additions in their places. */
export function withAdditions(request: JsonObject, additions: readonly Addition[]): JsonObject {
  const places = byPlace(additions);
  const words = systemWords(places);
  return {
    ...request,
    ...(words ? { systemInstructions: joined(text(request['systemInstructions']), words) } : {}),
    ...(additions.some(({ after }) => after >= 0)
      ? { input: itemsOf(request).flatMap((item, i) => [item, ...(places.get(i) ?? []).flatMap(added)]) }
      : {}),
  };
}

const said = (content: string): JsonObject => ({ type: 'message', role: 'user', content });

/** A refused call of a function is shown with its result; of any other kind there is no result in words, so it is told instead. */
function added(addition: Addition): readonly JsonObject[] {
  if (addition.type !== 'exchange') return [said(addition.text)];
  const items = Array.isArray(addition.raw) ? list(addition.raw) : [];
  const functions = new Set(items.flatMap((item) => (item['type'] === 'function_call' ? [text(item['callId'])] : [])));
  const shown = items.filter((item) => !isCall(item) || functions.has(text(item['callId'])));
  return [
    ...shown,
    ...addition.results
      .filter(({ id }) => functions.has(id))
      .map(({ id, tool, text: output }) => ({
        type: 'function_call_result',
        callId: id,
        name: tool,
        status: 'completed',
        output,
      })),
    ...addition.results
      .filter(({ id }) => !functions.has(id))
      .map(({ tool, text: why }) => said(`Your call of ${tool} was not made: ${why}`)),
  ];
}
