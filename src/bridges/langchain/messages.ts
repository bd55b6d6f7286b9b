// LangChain's messages as a guide reads them, and what the guide adds as messages of the caller's own LangChain.
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
import { count, inner, list, opaque, text } from '../dialects/reading.ts';
import type { Addition } from '../guide/given.ts';

/** The caller's classes of messages: `import * as messages from '@langchain/core/messages'`, or `'langchain'`, holds them. */
export type MessageClasses = {
  readonly AIMessage: MessageClass;
  readonly AIMessageChunk: MessageClass;
  readonly HumanMessage: MessageClass;
  readonly SystemMessage: MessageClass;
  readonly ToolMessage: MessageClass;
};

/** A class of messages. */
export type MessageClass = new (fields: never) => object;

/** A message of LangChain's, as far as it is looked at. */
export type AnyMessage = {
  readonly type: string;
  readonly content: Json;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly invalid_tool_calls?: readonly { readonly id?: string; readonly name?: string; readonly args?: string }[];
  readonly tool_call_chunks?: readonly unknown[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly status?: string;
  readonly id?: string;
  readonly usage_metadata?: unknown;
  readonly additional_kwargs?: unknown;
  readonly response_metadata?: unknown;
};

/** Whether a message, or a piece of one, holds anything of a call. */
export const hasCalls = ({ tool_call_chunks, tool_calls, invalid_tool_calls }: AnyMessage): boolean =>
  [tool_call_chunks, tool_calls, invalid_tool_calls].some((each) => each !== undefined && each.length > 0);

/** A message of one of the caller's classes. */
export const made = (type: MessageClass, fields: object): AnyMessage => new type(fields as never) as AnyMessage;

/** A request as a guide sees it: one message for each, null for the system's. */
export const readingOf = (messages: readonly AnyMessage[], tools: unknown, model: string): Reading => ({
  model,
  system: messages.flatMap((each) => (each.type === 'system' ? [wordsIn(each.content)] : [])).join('\n\n'),
  tools: Array.isArray(tools) ? tools.flatMap(toolOf) : [],
  messages: messages.map(messageOf),
});

/** A tool in whatever form its provider, or LangChain itself, gives it. */
function toolOf(tool: unknown): readonly ToolSpec[] {
  if (!isObject(tool)) return [];
  const given = isObject(tool['function']) ? tool['function'] : tool;
  if (typeof given['name'] !== 'string') return [];
  const schema = given['parameters'] ?? given['input_schema'] ?? {};
  return [{ name: given['name'], description: String(given['description'] ?? ''), input: inner(toJson(schema)) }];
}

function messageOf(message: AnyMessage): Message | null {
  if (message.type === 'human') return { role: 'user', parts: userParts(message.content) };
  if (message.type === 'ai') return { role: 'assistant', parts: answerParts(message) };
  if (message.type !== 'tool') return null;
  const { tool_call_id: id = '', name: tool = '', content, status } = message;
  const words = wordsIn(content) || (typeof content === 'string' ? '' : JSON.stringify(toJson(content)));
  return { role: 'tool', parts: [{ type: 'tool-result', id, tool, text: words, failed: status === 'error' }] };
}

const userParts = (content: Json): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content).map((part) =>
        part['type'] === 'text' ? { type: 'text', text: text(part['text']) } : opaque(toJson(part)),
      );

const wordsIn = (content: Json): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => (part['type'] === 'text' ? text(part['text']) : ''))
        .join('');

function answerParts({ content, tool_calls = [], invalid_tool_calls = [] }: AnyMessage): readonly MessagePart[] {
  const words = wordsIn(content);
  return [
    ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
    ...tool_calls.map(({ id = '', name, args }): MessagePart => ({
      type: 'tool-call',
      id,
      tool: name,
      input: toJson(args),
    })),
    ...invalid_tool_calls.map(({ id = '', name = '', args = '' }): MessagePart => ({
      type: 'tool-call',
      id,
      tool: name,
      input: {},
      invalid: args,
    })),
  ];
}

/** The model's answer as a guide sees it. */
export function toldOf(message: AnyMessage): Told {
  const { content, tool_calls, additional_kwargs, id } = message;
  return {
    message: { role: 'assistant', parts: answerParts(message) },
    finish: finishOf(message),
    usage: usageOf(inner(toJson(message.usage_metadata))),
    raw: toJson({ content, tool_calls, additional_kwargs, id }),
  };
}

const finishes: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  content_filter: 'filtered',
  SAFETY: 'filtered',
  refusal: 'refusal',
};

function finishOf({ response_metadata, tool_calls }: AnyMessage): FinishReason {
  const { finish_reason, stop_reason, finishReason } = inner(toJson(response_metadata));
  const told = finishes[text(finish_reason ?? stop_reason ?? finishReason)];
  return told ?? (tool_calls?.length ? 'tool-calls' : 'stop');
}

const usageOf = ({ input_tokens, output_tokens, input_token_details, output_token_details }: JsonObject): Usage => ({
  ...count('input', input_tokens),
  ...count('output', output_tokens),
  ...count('cacheRead', inner(input_token_details)['cache_read']),
  ...count('cacheWrite', inner(input_token_details)['cache_creation']),
  ...count('reasoning', inner(output_token_details)['reasoning']),
});

/** The messages with the additions in their places. */
export function withAdditions(
  messages: readonly AnyMessage[],
  additions: readonly Addition[],
  classes: MessageClasses,
): AnyMessage[] {
  const places = byPlace(additions);
  const words = systemWords(places);
  const system = messages.findLastIndex(({ type }) => type === 'system');
  const whole = messages.flatMap((message, i) => [
    i === system && words ? made(classes.SystemMessage, { content: joined(wordsIn(message.content), words) }) : message,
    ...(places.get(i) ?? []).flatMap((each) => added(each, classes)),
  ]);
  return words && system < 0 ? [made(classes.SystemMessage, { content: words }), ...whole] : whole;
}

function added(addition: Addition, { AIMessage, HumanMessage, ToolMessage }: MessageClasses): AnyMessage[] {
  if (addition.type !== 'exchange') return [made(HumanMessage, { content: addition.text })];
  const { raw, results } = addition;
  return [
    made(AIMessage, isObject(raw) ? raw : {}),
    ...results.map(({ id, tool, text: content }) =>
      made(ToolMessage, { tool_call_id: id, name: tool, content, status: 'error' }),
    ),
  ];
}
