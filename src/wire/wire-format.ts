// Types shared by the codecs of provider wire formats: parsed requests and responses, additions, stream assembly.
import type { FinishReason, Json, JsonObject, Message, ToolSpec, Usage } from '../core/index.ts';
import type { WireStreamEvent } from './sse.ts';

/** The wire formats that Fairlead knows. */
export type WireFormatName = 'chat' | 'responses' | 'anthropic' | 'google' | 'ollama';

/** The wire formats whose requests and responses can be intercepted. */
export type InterceptFormatName = Exclude<WireFormatName, 'ollama'>;

/** A model request in Fairlead's types. `messages` has one entry per entry of the body; null if it is only passed through. */
export type ParsedModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly (Message | null)[];
  /** The response that holds the earlier messages, if the provider stores them. */
  readonly previousResponseId?: string;
  /** Names of tools that have no effect outside the caller's program, such as a handoff to another agent. */
  readonly readOnlyTools?: readonly string[];
};

/** The maximal number of tool calls in one response: each call is evaluated, recorded and answered. */
export const maxResponseCalls = 256;

/** A model response in Fairlead's types. `raw` is the response in the format in which it can be sent to the model again. */
export type ParsedModelResponse = {
  readonly message: Message;
  readonly finish: FinishReason;
  readonly usage?: Usage;
  /** Cost in US dollars, if the server states one. */
  readonly usd?: number;
  readonly raw?: Json;
  /** The provider's id of the response. */
  readonly id?: string;
};

/** An insertion into a request, after the message with index `after`. */
export type MessageAddition =
  /** Text at the end of the system prompt. */
  | { readonly type: 'system'; readonly after: -1; readonly text: string }
  /** Text from the user's side. */
  | { readonly type: 'notes'; readonly after: number; readonly text: string }
  /** A response that was denied, and the results that its tool calls got instead of being run. */
  | {
      readonly type: 'exchange';
      readonly after: number;
      readonly answer: Message;
      readonly results: readonly { readonly id: string; readonly tool: string; readonly text: string }[];
      readonly raw?: Json;
    };

/** Assembles a response from the events of its stream. */
export type StreamAssembler = {
  /** Adds an event. `mustHold` is true if the event starts a tool call, which must be evaluated before the client sees it. */
  push(event: WireStreamEvent): { readonly mustHold: boolean };
  /** Returns the response after the last event. */
  response(): ParsedModelResponse;
};

/** The codec of one wire format, as used between a client and a provider. No function changes its arguments. */
export type WireFormat = {
  readonly name: InterceptFormatName;
  /** Every event that starts a tool call contains one of these strings; an event without any need not be parsed before it is forwarded. */
  readonly toolCallMarkers: readonly string[];
  parseRequest(request: JsonObject, path?: string): ParsedModelRequest;
  /** Returns why tool calls in the response to this request could not be intercepted, if they could not. */
  unsupportedReason(request: JsonObject): string | undefined;
  /** Returns the request with the additions inserted. */
  insertAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject;
  /** Parses a response that is one JSON document. */
  parseResponse(response: JsonObject): ParsedModelResponse;
  createAssembler(): StreamAssembler;
  /** Returns a function that rewrites the events of another response so that they continue a stream that started with `sent`; undefined means drop the event. */
  continueStream(sent: readonly WireStreamEvent[]): (event: WireStreamEvent) => WireStreamEvent | undefined;
  /** Writes a response with this text, as one document. */
  writeTextResponse(request: JsonObject, text: string): JsonObject;
  /** Writes a response with this text, as the events of a stream. */
  writeTextEvents(request: JsonObject, text: string): readonly WireStreamEvent[];
  /** Writes an error response body. */
  errorBody(message: string): JsonObject;
  /** Writes an error as an event of a stream. */
  errorEvent(message: string): WireStreamEvent;
};

/** Groups additions by the index of the message that they follow; additions to the system prompt are at -1. */
export const groupByPosition = (
  additions: readonly MessageAddition[],
): ReadonlyMap<number, readonly MessageAddition[]> => Map.groupBy(additions, ({ after }) => after);

/** Returns the text to append to the system prompt; empty if there is none. */
export const getSystemAddition = (groups: ReadonlyMap<number, readonly MessageAddition[]>): string =>
  (groups.get(-1) ?? []).map((each) => (each.type === 'exchange' ? '' : each.text)).join('\n\n');

/** Joins two texts with a blank line. */
export const joinParagraphs = (before: string, added: string): string =>
  before === '' ? added : `${before}\n\n${added}`;
