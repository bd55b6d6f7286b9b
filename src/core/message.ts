// What passes between a person, a model and a tool, free of any provider's dialect.
import type { Json, JsonObject } from './json.ts';

/** What one provider family wants back unread (signatures, item ids); others drop it. */
export type ProviderMetadata = { readonly family: string; readonly data: JsonObject };

/** Words of either side. */
export type TextPart = { readonly type: 'text'; readonly text: string; readonly meta?: ProviderMetadata };

/** The model thinking aloud. */
export type ReasoningPart = { readonly type: 'reasoning'; readonly text: string; readonly meta?: ProviderMetadata };

/** A file: base64 data or a URL. */
export type FilePart = {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: string;
  readonly name?: string;
  readonly meta?: ProviderMetadata;
};

/** The model asking for a tool. `invalid` holds the raw text of arguments that were not JSON: such a call never runs. */
export type ToolCallPart = {
  readonly type: 'tool-call';
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly invalid?: string;
  readonly meta?: ProviderMetadata;
};

/** What a tool answered, as the model reads it. */
export type ToolResultPart = {
  readonly type: 'tool-result';
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly failed: boolean;
  /** Pictures that the model is shown beside the text. */
  readonly files?: readonly FilePart[];
};

/** A piece of a message. */
export type MessagePart = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart;

/** A message: a person's, a model's, or the results of one answer's tool calls in call order. */
export type Message = { readonly role: 'user' | 'assistant' | 'tool'; readonly parts: readonly MessagePart[] };

/** A tool as a model sees it: nothing of its effect or permission leaks. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly input: JsonObject };

/** Which tool the model must call, if any. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** Why a model stopped speaking. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'refusal' | 'filtered' | 'other';

/** Tokens of one answer; an absent count is unknown, which is not zero. `input` includes what was read from and written to a cache. */
export type Usage = {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
};

/** The text of a message, its text parts joined by a line break. */
export const messageText = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The tool calls of a message, in order. */
export const messageToolCalls = (message: Message): readonly ToolCallPart[] =>
  message.parts.filter((part) => part.type === 'tool-call');

/** Whether a message says nothing to anybody: thoughts alone are no answer. */
export const isEmptyMessage = (message: Message): boolean =>
  !message.parts.some((part) => (part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning'));

/** Whether these calls are what was asked for. */
export function satisfiesToolChoice(choice: ToolChoice, calls: readonly { readonly tool: string }[]): boolean {
  if (choice === 'auto') return true;
  if (choice === 'none') return calls.length === 0;
  return choice === 'required' ? calls.length > 0 : calls.some((call) => call.tool === choice.tool);
}
