// Scripted answers: one type for the provider in memory and for the server in every wire format, and functions that build them.
import type { Blame, FinishReason, Json, Usage } from '../core/index.ts';

/** A tool call in an answer. */
export type ScriptedCall = {
  readonly tool: string;
  readonly input?: Json;
  /** The call's id; by default an id that is unique in the script. */
  readonly id?: string;
  /** The raw text of the arguments, valid JSON or not, instead of `input`. */
  readonly raw?: string;
};

/** Failures that every wire format reports in its own way. */
export type FailureName =
  | 'rate-limited'
  | 'overloaded'
  | 'server-error'
  | 'timeout'
  | 'unauthorized'
  | 'forbidden'
  | 'payment'
  | 'not-found'
  | 'bad-request'
  | 'context-too-long';

/** How a scripted answer fails: the provider throws the error, the server responds with its status in the format of the API. */
export type ScriptedError = {
  readonly name?: FailureName;
  readonly status?: number;
  /** The code of the FairleadError, for example `provider/rate-limited`. */
  readonly code?: string;
  readonly message?: string;
  readonly blame?: Blame;
  readonly retry?: boolean;
  /** The delay before a retry; the server sends it as Retry-After. */
  readonly afterMs?: number;
  readonly hint?: string;
};

/** Transport failures between server and client; the provider in memory has no transport and ignores them. */
export type TransportFailures = {
  /** The status of the response; 200 by default. */
  readonly status?: number;
  /** Headers to add or replace. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** A delay between the headers and the first byte of the body. */
  readonly firstByteMs?: number;
  /** Stops sending after this many bytes of the body. */
  readonly stall?: { readonly at: number; readonly ms: number };
  /** Closes the socket after this many bytes of the body. */
  readonly cutAt?: number;
  /** Writes the body in chunks of this many bytes. */
  readonly splitEvery?: number;
  /** Sends the body as gzip: complete, corrupted, or truncated. */
  readonly gzip?: 'whole' | 'broken' | 'cut';
  /** The chunk with this index (from 0) is not JSON. */
  readonly malformed?: number;
  /** The frame that ends a stream (`[DONE]`, `message_stop`, ...) is omitted or sent twice. */
  readonly done?: 'missing' | 'twice';
  /** Bytes after the end of the body. */
  readonly trailing?: string;
};

/** A response that is sent unchanged to any request: a recorded exchange, a page of a proxy. */
export type RawScriptedResponse = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly cutAt?: number;
  readonly splitEvery?: number;
};

/** The response of a scripted model to one request. */
export type ScriptedResponse = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The finish reason; by default `tool-calls` with calls and `stop` without. */
  readonly finish?: FinishReason;
  /** The token usage; by default 10 input and 5 output tokens; `{}` omits it. */
  readonly usage?: Usage;
  /** The model name in the response; by default that of the request. */
  readonly model?: string;
  readonly usd?: number;
  /** The chunks of the text: their number, or the chunks themselves; by default one per word. */
  readonly chunks?: number | readonly string[];
  /** A delay before the headers. */
  readonly delayMs?: number;
  /** A delay before each chunk. */
  readonly chunkMs?: number;
  readonly error?: ScriptedError;
  /** Ends the answer after this many chunks: with `error` by that error inside the stream, with `hang` by sending nothing more, otherwise by a closed connection. */
  readonly cutAfter?: number;
  /** Sends nothing more and does not end, until the client aborts. */
  readonly hang?: boolean;
  readonly wire?: TransportFailures;
  readonly raw?: RawScriptedResponse;
};

/** An answer that can be joined with others. */
export type ScriptedResponseBuilder = ScriptedResponse & {
  /** Joins two answers: texts are concatenated, calls are parallel, other fields of the later answer win. */
  and(...others: readonly ScriptedResponse[]): ScriptedResponseBuilder;
};

/** Creates a text answer. */
export const says = (text: string, more: ScriptedResponse = {}): ScriptedResponseBuilder =>
  createResponseBuilder({ text, ...more });

/** Creates an answer with reasoning. */
export const thinks = (reasoning: string, more: ScriptedResponse = {}): ScriptedResponseBuilder =>
  createResponseBuilder({ reasoning, ...more });

/** Creates an answer that calls a tool. */
export const calls = (
  tool: string,
  input: Json = {},
  more: Omit<ScriptedCall, 'tool' | 'input'> = {},
): ScriptedResponseBuilder => createResponseBuilder({ calls: [{ tool, input, ...more }] });

/** Creates an answer that is an error: an HTTP status, a failure by name, or all its details. */
export function fails(what: number | FailureName | ScriptedError, more: ScriptedError = {}): ScriptedResponseBuilder {
  const error = typeof what === 'number' ? { status: what } : typeof what === 'string' ? { name: what } : what;
  return createResponseBuilder({ error: { ...error, ...more } });
}

/** Creates an answer that is sent unchanged. */
export const sends = (raw: RawScriptedResponse): ScriptedResponseBuilder => createResponseBuilder({ raw });

/** Creates an HTML page instead of an answer, by default with a success status. */
export const sendsPage = (
  html = '<!doctype html><title>Sign in</title><h1>Sign in</h1>',
  status = 200,
): ScriptedResponseBuilder => sends({ status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html });

/** Joins several answers. */
export function joinResponses(answers: readonly ScriptedResponse[]): ScriptedResponse {
  return answers.reduce((one, other) => {
    const text = concatText(one.text, other.text);
    const reasoning = concatText(one.reasoning, other.reasoning);
    return {
      ...one,
      ...other,
      ...(text === undefined ? {} : { text }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(one.calls || other.calls ? { calls: [...(one.calls ?? []), ...(other.calls ?? [])] } : {}),
    };
  }, {});
}

const concatText = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined ? other : one + (other ?? '');

/** The method is not enumerable, so that an answer prints, spreads and compares as the plain data it is. */
function createResponseBuilder(answer: ScriptedResponse): ScriptedResponseBuilder {
  const and = (...others: readonly ScriptedResponse[]): ScriptedResponseBuilder =>
    createResponseBuilder(joinResponses([answer, ...others]));
  return Object.defineProperty({ ...answer }, 'and', { value: and }) as ScriptedResponseBuilder;
}
