// How a provider's own requests and answers are read and added to: everything that is not ours stays as it is.
import type { JsonObject } from '../../core/index.ts';
import type { Addition } from '../guide/given.ts';
import type { Answered, Asked, Guidance } from '../guide/guide.ts';

/** A request as a guide sees it; `follows` names the answer that holds what came before, where the provider keeps it. */
export type Reading = Asked & { readonly follows?: string };

/** An answer as a guide sees it, with the provider's name for it. */
export type Told = Answered & { readonly id?: string };

/** That a run is over. */
export type Stopping = Guidance & { readonly type: 'stop' };

/** A way to talk to a model, as its callers write it. Nothing here changes what it is given. */
export type Dialect = {
  readonly name: DialectName;
  /** Each event that begins a call holds one of these: what holds none need not be read before it is passed on. */
  readonly markers: readonly string[];
  /** The request as a guide sees it: one message of ours for each of the caller's, null for what only passes through. */
  asked(request: JsonObject, path?: string): Reading;
  /** Why calls in the answer to this request could get past a guide, if they could. */
  unguidable(request: JsonObject): string | undefined;
  /** The request with the additions in their places. */
  withAdditions(request: JsonObject, additions: readonly Addition[]): JsonObject;
  /** A whole answer. */
  answered(response: JsonObject): Told;
  /** Puts a streamed answer together from its events. */
  assembler(): Assembler;
  /** How the events of another answer go on in a stream that began with these; nothing for one to leave out. */
  joining(sent: readonly StreamEvent[]): (event: StreamEvent) => StreamEvent | undefined;
  /** What the caller gets where nothing is sent or let through: an answer in words that says so. */
  stopped(request: JsonObject, stop: Stopping): JsonObject;
  /** The same as the events of a stream. */
  stoppedEvents(request: JsonObject, stop: Stopping): readonly StreamEvent[];
  /** An error in the form that clients of this dialect read. */
  failure(sentence: string): JsonObject;
  /** The same in the middle of a stream. */
  failureEvent(sentence: string): StreamEvent;
};

/** The dialects there are. */
export type DialectName = 'chat' | 'responses' | 'anthropic' | 'gemini';

/** One event of a stream: its data, and its name where the dialect has names. */
export type StreamEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

/** Reads the events of one answer as they come. */
export type Assembler = {
  /** Takes an event; whether from here on the caller must wait: a call has begun that may be refused. */
  take(event: StreamEvent): { readonly holds: boolean };
  /** The answer, once its events have all come. */
  answer(): Told;
};

/** What is said in the place of an answer. */
export const stopWords = ({ reason, detail }: Stopping): string =>
  `[fairlead] The run was stopped (${reason})${detail ? `: ${detail}` : '.'}`;

/** The additions that stand after each of the caller's messages, by its index; those of the system text are at -1. */
export const byPlace = (additions: readonly Addition[]): ReadonlyMap<number, readonly Addition[]> =>
  Map.groupBy(additions, ({ after }) => after);

/** What the system text is added, if anything. */
export const systemWords = (places: ReadonlyMap<number, readonly Addition[]>): string =>
  (places.get(-1) ?? []).map((each) => (each.type === 'exchange' ? '' : each.text)).join('\n\n');

/** One text after another. */
export const joined = (before: string, added: string): string => (before === '' ? added : `${before}\n\n${added}`);
