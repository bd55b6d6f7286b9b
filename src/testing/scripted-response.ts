// What a scripted model answers: one type for the provider in memory and for the server in every dialect, and the words that build it.
import type { Blame, FinishReason, Json, Usage } from '../core/index.ts';

/** A tool call in an answer. */
export type ScriptedCall = {
  readonly tool: string;
  readonly input?: Json;
  /** The call's id; without it one is made that is unique in the script. */
  readonly id?: string;
  /** The text of the arguments as it is sent, legal JSON or not, instead of `input`. */
  readonly raw?: string;
};

/** Failures that every dialect has its own words for. */
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

/** How a scripted answer fails: the provider throws it, the server answers with its status in the dialect's own shape. */
export type ScriptedError = {
  readonly name?: FailureName;
  readonly status?: number;
  /** The code of the FairleadError, for example `provider/rate-limited`. */
  readonly code?: string;
  readonly message?: string;
  readonly blame?: Blame;
  readonly retry?: boolean;
  /** How long to wait before trying again; the server says it in Retry-After. */
  readonly afterMs?: number;
  readonly hint?: string;
};

/** What goes wrong between server and client; the provider in memory has no wire and passes over it. */
export type TransportFailures = {
  /** The status of the reply, otherwise 200. */
  readonly status?: number;
  /** Headers that are added or replaced. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** Silence between the headers and the first byte of the body. */
  readonly firstByteMs?: number;
  /** Silence after this many bytes of the body. */
  readonly stall?: { readonly at: number; readonly ms: number };
  /** The socket is cut after this many bytes of the body. */
  readonly cutAt?: number;
  /** The body is written this many bytes at a time. */
  readonly splitEvery?: number;
  /** The body is sent as gzip: whole, with bytes flipped, or without its end. */
  readonly gzip?: 'whole' | 'broken' | 'cut';
  /** The chunk with this index (from 0) is not JSON. */
  readonly malformed?: number;
  /** What ends a stream (`[DONE]`, `message_stop`, ...) is left out or said twice. */
  readonly done?: 'missing' | 'twice';
  /** Bytes after the end of the body. */
  readonly trailing?: string;
};

/** A reply that is sent as it is, whatever was asked: a recorded exchange, a proxy's page. */
export type RawScriptedResponse = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly cutAt?: number;
  readonly splitEvery?: number;
};

/** What a scripted model does with one request. */
export type ScriptedResponse = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Why it stops; otherwise `tool-calls` with calls and `stop` without. */
  readonly finish?: FinishReason;
  /** Otherwise 10 tokens in and 5 out; `{}` leaves the usage out. */
  readonly usage?: Usage;
  /** The model that says it answered; otherwise the one that was asked for. */
  readonly model?: string;
  readonly usd?: number;
  /** How the text is streamed: in so many pieces, or in these; otherwise word by word. */
  readonly chunks?: number | readonly string[];
  /** Silence before anything at all. */
  readonly delayMs?: number;
  /** Silence before each chunk. */
  readonly chunkMs?: number;
  readonly error?: ScriptedError;
  /** The answer breaks off after so many chunks: with `error` by that error inside the stream, with `hang` by silence, else by a cut connection. */
  readonly cutAfter?: number;
  /** Says nothing more, and does not end either, until the client gives up. */
  readonly hang?: boolean;
  readonly wire?: TransportFailures;
  readonly raw?: RawScriptedResponse;
};

/** An answer that can be joined with others. */
export type ScriptedResponseBuilder = ScriptedResponse & {
  /** One answer of both: texts follow each other, calls stand side by side, of everything else the later is kept. */
  and(...others: readonly ScriptedResponse[]): ScriptedResponseBuilder;
};

/** An answer in text. */
export const says = (text: string, more: ScriptedResponse = {}): ScriptedResponseBuilder =>
  createResponseBuilder({ text, ...more });

/** An answer that thinks aloud. */
export const thinks = (reasoning: string, more: ScriptedResponse = {}): ScriptedResponseBuilder =>
  createResponseBuilder({ reasoning, ...more });

/** An answer that calls a tool. */
export const calls = (
  tool: string,
  input: Json = {},
  more: Omit<ScriptedCall, 'tool' | 'input'> = {},
): ScriptedResponseBuilder => createResponseBuilder({ calls: [{ tool, input, ...more }] });

/** An answer that is an error: an HTTP status, a failure by name, or all its details. */
export function fails(what: number | FailureName | ScriptedError, more: ScriptedError = {}): ScriptedResponseBuilder {
  const error = typeof what === 'number' ? { status: what } : typeof what === 'string' ? { name: what } : what;
  return createResponseBuilder({ error: { ...error, ...more } });
}

/** An answer that is sent as it is. */
export const sends = (raw: RawScriptedResponse): ScriptedResponseBuilder => createResponseBuilder({ raw });

/** A web page where an answer should be, with a status of success unless another is given. */
export const sendsPage = (
  html = '<!doctype html><title>Sign in</title><h1>Sign in</h1>',
  status = 200,
): ScriptedResponseBuilder => sends({ status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html });

/** Several answers as one. */
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
