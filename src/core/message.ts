// Provider-neutral messages between user, model and tools.
import type { Json, JsonObject } from './json.ts';
import type { Spotlight } from './spotlight.ts';

/** Opaque provider metadata (signatures, item ids), sent back to the same provider family and dropped for others. */
export type ProviderMetadata = { readonly family: string; readonly data: JsonObject };

/** Text of the user or the model. */
export type TextPart = { readonly type: 'text'; readonly text: string; readonly meta?: ProviderMetadata };

/** Reasoning text of the model. */
export type ReasoningPart = { readonly type: 'reasoning'; readonly text: string; readonly meta?: ProviderMetadata };

/** A file: base64 data or a URL. */
export type FilePart = {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: string;
  readonly name?: string;
  readonly meta?: ProviderMetadata;
};

/** A tool call of the model. `invalid` holds raw arguments that were not JSON; such a call never runs. */
export type ToolCallPart = {
  readonly type: 'tool-call';
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly invalid?: string;
  readonly meta?: ProviderMetadata;
};

/** The result of a tool call as the model sees it. */
export type ToolResultPart = {
  readonly type: 'tool-result';
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly failed: boolean;
  /** Set if the text is from files, programs or networks: the nonce of the tags that `formatToolResult` puts around it. */
  readonly nonce?: string;
  /** How the text is marked besides its tags; absent for tags alone. */
  readonly spotlight?: Exclude<Spotlight, 'delimiters'>;
  /** Images shown to the model with the text. */
  readonly files?: readonly FilePart[];
};

/** A part of a message. */
export type MessagePart = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart;

/** A message of the user or the model, or the tool results of one response in call order. */
export type Message = { readonly role: 'user' | 'assistant' | 'tool'; readonly parts: readonly MessagePart[] };

/** A tool as the model sees it, without its effect and permissions. */
export type ToolSpec = { readonly name: string; readonly description: string; readonly input: JsonObject };

/** Which tool the model must call, if any. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** Why the model stopped. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'refusal' | 'filtered' | 'other';

/** Token counts of one response. An absent count is unknown, not zero. `input` includes cache reads and writes. */
export type Usage = {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
};

/** Returns the text parts of a message, joined by line breaks. */
export const messageText = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Returns the tool calls of a message, in order. */
export const messageToolCalls = (message: Message): readonly ToolCallPart[] =>
  message.parts.filter((part) => part.type === 'tool-call');

/** Returns true if a message has no content but reasoning. */
export const isEmptyMessage = (message: Message): boolean =>
  !message.parts.some((part) => (part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning'));

/** Returns true if the calls satisfy the tool choice. */
export function satisfiesToolChoice(choice: ToolChoice, calls: readonly { readonly tool: string }[]): boolean {
  if (choice === 'auto') return true;
  if (choice === 'none') return calls.length === 0;
  return choice === 'required' ? calls.length > 0 : calls.some((call) => call.tool === choice.tool);
}

/** The context in which a tool output is formatted for the model. */
export type RendererContext = { readonly tool: string; readonly input: Json; readonly model: string };
