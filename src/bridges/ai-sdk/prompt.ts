// Converts AI SDK prompts and responses to our messages, and additions to SDK messages.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FilePart,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import {
  toJson,
  type FinishReason,
  type Json,
  type Message,
  type MessagePart,
  type ToolSpec,
  type Usage,
} from '../../core/index.ts';
import {
  asObject,
  getSystemAddition,
  groupByPosition,
  joinParagraphs,
  parseCallArguments,
  toOpaquePart,
  type MessageAddition,
} from '../../wire/index.ts';
import type { InterceptedResponse, InterceptedRequest } from '../interceptor/interceptor.ts';

type AssistantPart = (LanguageModelV4Message & { role: 'assistant' })['content'][number];

/** Converts a request: one message per prompt message, null for system messages. */
export const parseAiSdkRequest = (
  { prompt, tools }: LanguageModelV4CallOptions,
  model: string,
): InterceptedRequest => ({
  model,
  system: prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n'),
  tools: (tools ?? []).map((tool): ToolSpec => ({
    name: tool.name,
    description: tool.type === 'function' ? (tool.description ?? '') : '',
    input: tool.type === 'function' ? asObject(toJson(tool.inputSchema)) : {},
  })),
  messages: prompt.map(parsePromptMessage),
});

function parsePromptMessage(message: LanguageModelV4Message): Message | null {
  if (message.role === 'system') return null;
  if (message.role === 'user')
    return {
      role: 'user',
      parts: message.content.map((part): MessagePart =>
        part.type === 'text' ? { type: 'text', text: part.text } : parseFilePart(part),
      ),
    };
  if (message.role === 'assistant') return { role: 'assistant', parts: message.content.flatMap(parseAssistantPart) };
  return {
    role: 'tool',
    parts: message.content.flatMap((part): readonly MessagePart[] => {
      if (part.type !== 'tool-result') return [];
      const { toolCallId: id, toolName: tool, output } = part;
      const failed = /^(error-|execution-denied)/.test(output.type);
      return [{ type: 'tool-result', id, tool, text: formatToolOutput(output), failed }];
    }),
  };
}

function parseFilePart({ mediaType, data }: LanguageModelV4FilePart): MessagePart {
  if (data.type === 'url') return { type: 'file', mediaType, data: data.url.href };
  if (data.type !== 'data') return toOpaquePart(toJson(data));
  const bytes = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  return { type: 'file', mediaType, data: bytes };
}

function parseAssistantPart(part: AssistantPart): readonly MessagePart[] {
  if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text }];
  // Provider-executed calls have already run: there is nothing to decide.
  if (part.type !== 'tool-call' || part.providerExecuted) return [];
  return [{ type: 'tool-call', id: part.toolCallId, tool: part.toolName, input: toJson(part.input) }];
}

function formatToolOutput(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === 'execution-denied') return output.reason ?? 'The call was denied.';
  if (output.type === 'content')
    return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}

/** Inserts the additions into the prompt. */
export function insertIntoPrompt(
  prompt: LanguageModelV4Prompt,
  additions: readonly MessageAddition[],
): LanguageModelV4Prompt {
  const places = groupByPosition(additions);
  const words = getSystemAddition(places);
  const lastSystem = prompt.findLastIndex(({ role }) => role === 'system');
  const whole = prompt.flatMap((message, i) => [
    i === lastSystem && message.role === 'system' && words
      ? { ...message, content: joinParagraphs(message.content, words) }
      : message,
    ...(places.get(i) ?? []).flatMap(formatAddition),
  ]);
  return words && lastSystem < 0 ? [{ role: 'system', content: words }, ...whole] : whole;
}

function formatAddition(addition: MessageAddition): LanguageModelV4Message[] {
  if (addition.type !== 'exchange') return [{ role: 'user', content: [{ type: 'text', text: addition.text }] }];
  const { raw, answer, results } = addition;
  const said: LanguageModelV4Message = {
    role: 'assistant',
    content: Array.isArray(raw) ? (raw as AssistantPart[]) : answer.parts.flatMap(formatPart),
  };
  if (results.length === 0) return [said];
  const told = results.map(({ id, tool, text }) => ({
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: tool,
    output: { type: 'error-text' as const, value: text },
  }));
  return [said, { role: 'tool', content: told }];
}

function formatPart(part: MessagePart): AssistantPart[] {
  if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text }];
  if (part.type !== 'tool-call') return [];
  return [{ type: 'tool-call', toolCallId: part.id, toolName: part.tool, input: part.input }];
}

/** Converts a response. */
export const parseAiSdkResponse = (
  content: readonly LanguageModelV4Content[],
  finish: LanguageModelV4FinishReason | undefined,
  usage: LanguageModelV4Usage | undefined,
): InterceptedResponse => ({
  message: { role: 'assistant', parts: content.flatMap(parseContentPart) },
  finish: finishReasons[finish?.unified ?? ''] ?? 'other',
  ...(usage ? { usage: parseAiSdkUsage(usage) } : {}),
  raw: content.flatMap(toPromptPart),
});

function parseContentPart(part: LanguageModelV4Content): readonly MessagePart[] {
  if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text }];
  if (part.type !== 'tool-call' || part.providerExecuted) return [];
  return [{ type: 'tool-call', id: part.toolCallId, tool: part.toolName, ...parseCallArguments(part.input) }];
}

/** Converts a response to a prompt message, with its provider metadata. */
function toPromptPart(part: LanguageModelV4Content): readonly Json[] {
  if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool-call') return [];
  const { providerMetadata, ...rest } = part;
  const own = rest.type === 'tool-call' ? { ...rest, input: parseCallArguments(rest.input).input } : rest;
  return [toJson({ ...own, ...(providerMetadata ? { providerOptions: providerMetadata } : {}) })];
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  'tool-calls': 'tool-calls',
  length: 'length',
  'content-filter': 'filtered',
};

function parseAiSdkUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const counts = {
    input: inputTokens.total,
    output: outputTokens.total,
    cacheRead: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
    reasoning: outputTokens.reasoning,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}
