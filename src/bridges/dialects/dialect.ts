// How a provider's own requests and answers are read and added to: everything that is not ours stays as it is.
import type { JsonObject } from '../../core/index.ts';
import type { Addition } from '../guide/given.ts';
import type { Answered, Asked, Guidance } from '../guide/guide.ts';

/** A way to talk to a model, as its callers write it. Nothing here changes what it is given. */
export type Dialect = {
  readonly name: string;
  /** The request as a guide sees it: one message of ours for each of the caller's, null for what only passes through. */
  asked(request: JsonObject): Asked;
  /** The request with the additions in their places. */
  withAdditions(request: JsonObject, additions: readonly Addition[]): JsonObject;
  /** A whole answer. */
  answered(response: JsonObject): Answered;
  /** Puts a streamed answer together from its events. */
  assembler(): Assembler;
  /** What the caller gets where nothing is sent or let through: an answer in words that says so. */
  stopped(request: JsonObject, stop: Guidance & { readonly type: 'stop' }): JsonObject;
  /** The same as the events of a stream. */
  stoppedEvents(request: JsonObject, stop: Guidance & { readonly type: 'stop' }): readonly StreamEvent[];
};

/** One event of a stream: its data, and its name where the dialect has names. */
export type StreamEvent = { readonly event?: string; readonly data: JsonObject | '[DONE]' };

/** Reads the events of one answer as they come. */
export type Assembler = {
  /** Takes an event; whether from here on the caller must wait: a call has begun that may be refused. */
  take(event: StreamEvent): { readonly holds: boolean };
  /** The answer, once its events have all come. */
  answer(): Answered;
};

/** What is said in the place of an answer. */
export const stopWords = ({ reason, detail }: Guidance & { readonly type: 'stop' }): string =>
  `[fairlead] The run was stopped (${reason})${detail ? `: ${detail}` : '.'}`;
