// Converts LangChain messages to ours, and additions to messages of the caller's LangChain classes.
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
import {
  groupByPosition,
  joinParagraphs,
  getSystemAddition,
  type ParsedModelRequest,
  type ParsedModelResponse,
  numberField,
  asObject,
  asObjectArray,
  toOpaquePart,
  toUnknownMessage,
  asString,
  type MessageAddition,
} from '../../wire/index.ts';

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

/** The part of a LangChain message that is used here. */
export type LangChainMessage = {
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

/** Returns true if a message or chunk contains part of a call. */
export const hasToolCalls = ({ tool_call_chunks, tool_calls, invalid_tool_calls }: LangChainMessage): boolean =>
  [tool_call_chunks, tool_calls, invalid_tool_calls].some((each) => each !== undefined && each.length > 0);

/** Creates a message of one of the caller's classes. */
export const createMessage = (type: MessageClass, fields: object): LangChainMessage =>
  new type(fields as never) as LangChainMessage;

/** Converts a request: one message each, null for system messages. */
export const parseLangChainRequest = (
  messages: readonly LangChainMessage[],
  tools: unknown,
  model: string,
): ParsedModelRequest => ({
  model,
  system: messages.flatMap((each) => (each.type === 'system' ? [getContentText(each.content)] : [])).join('\n\n'),
  tools: Array.isArray(tools) ? tools.flatMap(parseTool) : [],
  messages: messages.map(parseLangChainMessage),
});

/** Converts a tool in any provider's or LangChain's form. */
function parseTool(tool: unknown): readonly ToolSpec[] {
  if (!isObject(tool)) return [];
  const given = isObject(tool['function']) ? tool['function'] : tool;
  if (typeof given['name'] !== 'string') return [];
  const schema = given['parameters'] ?? given['input_schema'] ?? {};
  return [{ name: given['name'], description: String(given['description'] ?? ''), input: asObject(toJson(schema)) }];
}

function parseLangChainMessage(message: LangChainMessage): Message | null {
  if (message.type === 'human') return { role: 'user', parts: parseUserParts(message.content) };
  if (message.type === 'ai') return { role: 'assistant', parts: parseAssistantParts(message) };
  if (message.type === 'system') return null;
  if (message.type !== 'tool') return toUnknownMessage(toJson({ type: message.type, content: message.content }));
  const { tool_call_id: id = '', name: tool = '', content, status } = message;
  const words = getContentText(content) || (typeof content === 'string' ? '' : JSON.stringify(toJson(content)));
  return { role: 'tool', parts: [{ type: 'tool-result', id, tool, text: words, failed: status === 'error' }] };
}

const parseUserParts = (content: Json): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asObjectArray(content).map((part) =>
        part['type'] === 'text' ? { type: 'text', text: asString(part['text']) } : toOpaquePart(toJson(part)),
      );

const getContentText = (content: Json): string =>
  typeof content === 'string'
    ? content
    : asObjectArray(content)
        .map((part) => (part['type'] === 'text' ? asString(part['text']) : ''))
        .join('');

function parseAssistantParts({
  content,
  tool_calls = [],
  invalid_tool_calls = [],
}: LangChainMessage): readonly MessagePart[] {
  const words = getContentText(content);
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

/** Converts a response. */
export function parseLangChainResponse(message: LangChainMessage): ParsedModelResponse {
  const { content, tool_calls, additional_kwargs, id } = message;
  return {
    message: { role: 'assistant', parts: parseAssistantParts(message) },
    finish: parseFinishReason(message),
    usage: parseLangChainUsage(asObject(toJson(message.usage_metadata))),
    raw: toJson({ content, tool_calls, additional_kwargs, id }),
  };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  content_filter: 'filtered',
  SAFETY: 'filtered',
  refusal: 'refusal',
};

function parseFinishReason({ response_metadata, tool_calls }: LangChainMessage): FinishReason {
  const { finish_reason, stop_reason, finishReason } = asObject(toJson(response_metadata));
  const told = finishReasons[asString(finish_reason ?? stop_reason ?? finishReason)];
  return told ?? (tool_calls?.length ? 'tool-calls' : 'stop');
}

const parseLangChainUsage = ({
  input_tokens,
  output_tokens,
  input_token_details,
  output_token_details,
}: JsonObject): Usage => ({
  ...numberField('input', input_tokens),
  ...numberField('output', output_tokens),
  ...numberField('cacheRead', asObject(input_token_details)['cache_read']),
  ...numberField('cacheWrite', asObject(input_token_details)['cache_creation']),
  ...numberField('reasoning', asObject(output_token_details)['reasoning']),
});

/** Inserts the additions into the messages. */
export function insertIntoMessages(
  messages: readonly LangChainMessage[],
  additions: readonly MessageAddition[],
  classes: MessageClasses,
): LangChainMessage[] {
  const places = groupByPosition(additions);
  const words = getSystemAddition(places);
  const system = messages.findLastIndex(({ type }) => type === 'system');
  const whole = messages.flatMap((message, i) => [
    i === system && words
      ? createMessage(classes.SystemMessage, { content: joinParagraphs(getContentText(message.content), words) })
      : message,
    ...(places.get(i) ?? []).flatMap((each) => formatAddition(each, classes)),
  ]);
  return words && system < 0 ? [createMessage(classes.SystemMessage, { content: words }), ...whole] : whole;
}

function formatAddition(
  addition: MessageAddition,
  { AIMessage, HumanMessage, ToolMessage }: MessageClasses,
): LangChainMessage[] {
  if (addition.type !== 'exchange') return [createMessage(HumanMessage, { content: addition.text })];
  const { raw, results } = addition;
  return [
    createMessage(AIMessage, isObject(raw) ? raw : {}),
    ...results.map(({ id, tool, text: content }) =>
      createMessage(ToolMessage, { tool_call_id: id, name: tool, content, status: 'error' }),
    ),
  ];
}
