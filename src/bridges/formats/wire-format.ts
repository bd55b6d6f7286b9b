// How a provider's own requests and answers are read and added to: everything that is not ours stays as it is.
import type { JsonObject } from '../../core/index.ts';
import type { MessageAddition } from '../interceptor/caller-history.ts';
import type { InterceptedResponse, InterceptedRequest, InterceptAction } from '../interceptor/interceptor.ts';

/** A request as a guide sees it; `follows` names the answer that holds what came before, where the provider keeps it. */
export type ParsedModelRequest = InterceptedRequest & { readonly previousResponseId?: string };

/** An answer as a guide sees it, with the provider's name for it. */
export type ParsedModelResponse = InterceptedResponse & { readonly id?: string };

/** That a run is over. */
export type StopAction = InterceptAction & { readonly type: 'stop' };

/** A way to talk to a model, as its callers write it. Nothing here changes what it is given. */
export type WireFormat = {
  readonly name: WireFormatName;
  /** Each event that begins a call holds one of these: what holds none need not be read before it is passed on. */
  readonly toolCallMarkers: readonly string[];
  /** The request as a guide sees it: one message of ours for each of the caller's, null for what only passes through. */
  parseRequest(request: JsonObject, path?: string): ParsedModelRequest;
  /** Why calls in the answer to this request could get past a guide, if they could. */
  unsupportedReason(request: JsonObject): string | undefined;
  /** The request with the additions in their places. */
  insertAdditions(request: JsonObject, additions: readonly MessageAddition[]): JsonObject;
  /** A whole answer. */
  parseResponse(response: JsonObject): ParsedModelResponse;
  /** Puts a streamed answer together from its events. */
  createAssembler(): StreamAssembler;
  /** How the events of another answer go on in a stream that began with these; nothing for one to leave out. */
  continueStream(sent: readonly WireStreamEvent[]): (event: WireStreamEvent) => WireStreamEvent | undefined;
  /** What the caller gets where nothing is sent or let through: an answer in words that says so. */
  stopResponse(request: JsonObject, stop: StopAction): JsonObject;
  /** The same as the events of a stream. */
  stopEvents(request: JsonObject, stop: StopAction): readonly WireStreamEvent[];
  /** An error in the form that clients of this dialect read. */
  errorBody(sentence: string): JsonObject;
  /** The same in the middle of a stream. */
  errorEvent(sentence: string): WireStreamEvent;
};

/** The dialects there are. */
export type WireFormatName = 'chat' | 'responses' | 'anthropic' | 'gemini';

/** One event of a stream: its data, and its name where the dialect has names. */
export type WireStreamEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

/** Reads the events of one answer as they come. */
export type StreamAssembler = {
  /** Takes an event; whether from here on the caller must wait: a call has begun that may be refused. */
  push(event: WireStreamEvent): { readonly mustHold: boolean };
  /** The answer, once its events have all come. */
  response(): ParsedModelResponse;
};

/** What is said in the place of an answer. */
export const formatStopMessage = ({ reason, detail }: StopAction): string =>
  `[fairlead] The run was stopped (${reason})${detail ? `: ${detail}` : '.'}`;

/** The additions that stand after each of the caller's messages, by its index; those of the system text are at -1. */
export const groupByPosition = (
  additions: readonly MessageAddition[],
): ReadonlyMap<number, readonly MessageAddition[]> => Map.groupBy(additions, ({ after }) => after);

/** What the system text is added, if anything. */
export const getSystemAddition = (places: ReadonlyMap<number, readonly MessageAddition[]>): string =>
  (places.get(-1) ?? []).map((each) => (each.type === 'exchange' ? '' : each.text)).join('\n\n');

/** One text after another. */
export const joinParagraphs = (before: string, added: string): string =>
  before === '' ? added : `${before}\n\n${added}`;
