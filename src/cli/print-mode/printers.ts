// Prints a one-shot run as text, as one line of JSON, or as one line of JSON per event. Data goes to standard output through a buffer, messages to standard error.
import type { Writable } from 'node:stream';
import { formatRunEnd, type RunResult, type StreamEvent } from '../../agent/index.ts';
import {
  escapeInvisible,
  formatRetryNotice,
  formatUnconfirmedClaims,
  readReviewNotice,
  parseRetryNotice,
  type ToolCall,
  type Chunk,
  type Event,
  type Json,
} from '../../core/index.ts';
import { formatCallTitle } from '../../sessions/index.ts';
import { printErr } from '../args/stdio.ts';
import { createEscapeStream } from './escape-stream.ts';

/** Prints one run. */
export type RunPrinter = {
  chunk(chunk: Chunk): void;
  event(event: Event): void;
  stream(event: StreamEvent): void;
  /** Prints the end of the run. */
  end(result: RunResult, names: RunNames): void;
};

/** What the end of a run names besides its result. */
export type RunNames = {
  readonly session: string | undefined;
  readonly model: string;
  /** The verification of the answer, and its text. */
  readonly verification?: Json;
  readonly report?: string | undefined;
};

/** Writes a text. */
export type WriteText = (text: string) => void;

/** Returns the tool call with this id, if there is one. */
export type FindCall = (id: string) => Pick<ToolCall, 'tool' | 'input'> | undefined;

const noop = (): void => {};

/** Prints the answer as text; while it is generated if `streamed` is set. */
export function createTextPrinter(out: WriteText, findCall: FindCall, streamed: boolean): RunPrinter {
  let started = false;
  let line = '';
  /** The indexes of the parts that are text. */
  const texts = new Set<number>();
  const logTools = createToolLogger(findCall);
  const write = (text: string): void => {
    started = true;
    line = text;
    out(text);
  };
  return {
    stream: noop,
    chunk(chunk) {
      if (!streamed) return undefined;
      if (chunk.type === 'part-delta' && texts.has(chunk.index)) return write(chunk.text);
      if (chunk.type === 'part-started') {
        texts.delete(chunk.index);
        if (chunk.part !== 'text') return undefined;
        texts.add(chunk.index);
        if (started && !line.endsWith('\n')) write('\n');
      }
      // The retry is reported from its event; the text so far stays, on lines of its own.
      if (chunk.type === 'restarted' && started && !line.endsWith('\n')) write('\n');
      return undefined;
    },
    event: logTools,
    end(result, { report }) {
      // The answer with its struck claims replaces the answer.
      const text = report ?? (started ? line : result.text);
      if (report !== undefined || !started) out(text);
      if (text !== '' && !text.endsWith('\n')) out('\n');
      const { unconfirmedClaims } = result;
      // After the answer, which standard output writes at the end of this turn of the event loop.
      if (unconfirmedClaims.length > 0)
        setImmediate(() => printErr(`${escapeInvisible(formatUnconfirmedClaims(unconfirmedClaims))}\n`));
      if (result.status !== 'success' && report === undefined) printErr(`${formatRunEnd(result)}\n`);
      return undefined;
    },
  };
}

/** Prints the result as one line of JSON at the end. */
export const createJsonPrinter = (out: WriteText, findCall: FindCall): RunPrinter => ({
  chunk: noop,
  stream: noop,
  event: createToolLogger(findCall),
  end: (result, names) => out(`${JSON.stringify(toResultJson(result, names))}\n`),
});

/** Prints one line of JSON per event, the result last. */
export const createStreamJsonPrinter = (out: WriteText, isVerified = false): RunPrinter => ({
  chunk: noop,
  event: noop,
  stream(event) {
    // What is verified at the end of the run is a draft until then.
    const isDraft = isVerified && /^(?:message_start|content_block)/.test(event.type);
    if (event.type !== 'result') out(`${JSON.stringify(isDraft ? { ...event, draft: true } : event)}\n`);
  },
  end: (result, names) => out(`${JSON.stringify(toResultJson(result, names))}\n`),
});

/** Returns the last line of JSON output, with the field names that other agents use. */
function toResultJson(result: RunResult, { session, model, verification }: RunNames): object {
  const { status, reason, usage } = result;
  return {
    type: 'result',
    subtype: status.replaceAll('-', '_'),
    is_error: status !== 'success',
    reason,
    result: result.text,
    ...(result.originalText === undefined ? {} : { original_result: result.originalText }),
    ...(result.object === undefined ? {} : { structured_output: result.object }),
    ...(status === 'success' ? {} : { error: formatRunEnd(result) }),
    ...(result.unconfirmedClaims.length > 0 ? { unconfirmed_claims: result.unconfirmedClaims } : {}),
    num_turns: result.turns,
    total_cost_usd: result.costUsd ?? null,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    model,
    session_id: result.sessionId,
    session: session ?? null,
    ...(verification === undefined ? {} : { verification }),
    asks: result.pendingApprovals.map(({ id, ...approval }) => ({ call: id, ...approval })),
  };
}

/** Returns the last line of JSON output for an error before or between runs. */
export const formatFailureJson = (error: string): string =>
  `${JSON.stringify({ type: 'result', subtype: 'error', is_error: true, error })}\n`;

const maxShownChars = 200;

/** Logs on standard error which tools run and which fail, and retries of model requests. */
function createToolLogger(findCall: FindCall): (event: Event) => void {
  const names = new Map<string, string>();
  const formatCall = (call: Pick<ToolCall, 'tool' | 'input'>): string => {
    const { tool, input } = formatCallTitle(call.tool, call.input);
    return `${tool} ${truncateLine(input)}`;
  };
  // A call of an earlier run that is continued here is only known from the session.
  const formatCallById = (id: string): string | undefined => {
    const call = findCall(id);
    return names.get(id) ?? (call && formatCall(call));
  };
  return (event) => {
    const retry = parseRetryNotice(event);
    if (retry) printErr(`${formatRetryNotice(retry)}\n`);
    const review = readReviewNotice(event);
    if (review !== undefined) printErr(`[review] ${escapeInvisible(review)}\n`);
    if (event.type === 'turn-ended')
      for (const part of event.message.parts) if (part.type === 'tool-call') names.set(part.id, formatCall(part));
    if (event.type === 'tool-started') printErr(`[tool] ${formatCallById(event.call) ?? event.tool}\n`);
    if (event.type === 'tool-ended' && event.outcome !== 'ok')
      printErr(`[tool] ${event.outcome}: ${formatCallById(event.call) ?? ''}: ${truncateLine(event.text)}\n`);
  };
}

function truncateLine(text: string): string {
  const line = escapeInvisible(text).replaceAll(/\s+/g, ' ');
  return line.length > maxShownChars ? `${line.slice(0, maxShownChars)}…` : line;
}

/** A buffered output. */
export type BufferedStdout = {
  readonly write: (text: string) => void;
  /** Waits until everything is written; returns whether the reader is still there. */
  readonly flush: () => Promise<boolean>;
};

/** Creates an output that writes once per event-loop turn instead of once per text; calls `onClosed` when the reader closes the pipe. Output to a terminal is escaped, unless it is already and has styles (`isEscaped`). */
export function createBufferedStdout(
  stream: Writable & { readonly isTTY?: boolean },
  onClosed: () => void,
  options: { readonly isEscaped?: boolean } = {},
): BufferedStdout {
  const escapeStream = stream.isTTY && options.isEscaped !== true ? createEscapeStream() : undefined;
  let buffered = '';
  let scheduled = false;
  let closed = false;
  stream.on('error', () => {
    closed = true;
    onClosed();
  });
  const flush = (): void => {
    scheduled = false;
    const text = escapeStream?.push(buffered) ?? buffered;
    buffered = '';
    if (text && !closed) stream.write(text);
  };
  return {
    write(text) {
      buffered += text;
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
    async flush() {
      flush();
      if (closed) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.write(escapeStream?.end() ?? '', () => resolve());
      await promise;
      return !closed;
    },
  };
}
