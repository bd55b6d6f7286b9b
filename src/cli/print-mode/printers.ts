// How a single run is printed: as text, as one line of JSON, or as a line of JSON for each event. Data goes to standard output, the rest to standard error.
import { formatRunEnd, type RunResult, type StreamEvent } from '../../agent/index.ts';
import { escapeInvisible, type ToolCall, type Chunk, type Event } from '../../core/index.ts';
import { printErr } from '../args/stdio.ts';

/** Prints one run. */
export type RunPrinter = {
  chunk(chunk: Chunk): void;
  event(event: Event): void;
  stream(event: StreamEvent): void;
  /** The last line. */
  end(result: RunResult, names: { readonly session: string | undefined; readonly model: string }): void;
};

/** Somewhere to write. */
export type WriteText = (text: string) => void;

/** The call of that id, if there is one. */
export type FindCall = (id: string) => Pick<ToolCall, 'tool' | 'input'> | undefined;

const noop = (): void => {};

/** The answer as text; while it comes, if it is streamed. */
export function createTextPrinter(out: WriteText, callOf: FindCall, streamed: boolean): RunPrinter {
  let begun = false;
  let line = '';
  /** Which parts of the answer are words for the reader. */
  const texts = new Set<number>();
  const say = createToolLogger(callOf);
  const write = (text: string): void => {
    begun = true;
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
        if (begun && !line.endsWith('\n')) write('\n');
      }
      if (chunk.type === 'restarted' && begun) {
        write('\n');
        printErr(`The answer was cut off and begins again: ${chunk.why}\n`);
      }
      return undefined;
    },
    event: say,
    end(result) {
      if (!begun) out(result.text);
      if (begun ? !line.endsWith('\n') : result.text !== '' && !result.text.endsWith('\n')) out('\n');
      if (result.status !== 'success') printErr(`${formatRunEnd(result)}\n`);
    },
  };
}

/** The result as one line of JSON at the end. */
export const createJsonPrinter = (out: WriteText, callOf: FindCall): RunPrinter => ({
  chunk: noop,
  stream: noop,
  event: createToolLogger(callOf),
  end: (result, names) => out(`${JSON.stringify(toResultJson(result, names))}\n`),
});

/** A line of JSON for each event, the result last. */
export const createStreamJsonPrinter = (out: WriteText): RunPrinter => ({
  chunk: noop,
  event: noop,
  stream(event) {
    if (event.type !== 'result') out(`${JSON.stringify(event)}\n`);
  },
  end: (result, names) => out(`${JSON.stringify(toResultJson(result, names))}\n`),
});

/** The last line of JSON output, with the names that users of other agents know. */
function toResultJson(result: RunResult, { session, model }: { session: string | undefined; model: string }): object {
  const { status, reason, usage } = result;
  return {
    type: 'result',
    subtype: status.replaceAll('-', '_'),
    is_error: status !== 'success',
    reason,
    result: result.text,
    ...(result.object === undefined ? {} : { structured_output: result.object }),
    ...(status === 'success' ? {} : { error: formatRunEnd(result) }),
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
    asks: result.pendingApprovals.map(({ id, ...approval }) => ({ call: id, ...approval })),
  };
}

/** The last line of JSON output of what went wrong before there was a run, or between two. */
export const formatFailureJson = (error: string): string =>
  `${JSON.stringify({ type: 'result', subtype: 'error', is_error: true, error })}\n`;

const maxShownChars = 200;

/** Says on standard error which tools run and which fail. */
function createToolLogger(callOf: FindCall): (event: Event) => void {
  const names = new Map<string, string>();
  const name = ({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string =>
    `${tool} ${truncateLine(JSON.stringify(input))}`;
  // A call that was made before this run, and is carried on with in it, is known from the session alone.
  const nameOf = (id: string): string | undefined => {
    const call = callOf(id);
    return names.get(id) ?? (call && name(call));
  };
  return (event) => {
    if (event.type === 'turn-ended')
      for (const part of event.message.parts) if (part.type === 'tool-call') names.set(part.id, name(part));
    if (event.type === 'tool-started') printErr(`[tool] ${nameOf(event.call) ?? event.tool}\n`);
    if (event.type === 'tool-ended' && event.outcome !== 'ok')
      printErr(`[tool] ${event.outcome}: ${nameOf(event.call) ?? ''}: ${truncateLine(event.text)}\n`);
  };
}

function truncateLine(text: string): string {
  const line = escapeInvisible(text).replaceAll(/\s+/g, ' ');
  return line.length > maxShownChars ? `${line.slice(0, maxShownChars)}…` : line;
}
