// What every dialect's writer makes of an answer: a body in one piece, or the pieces of a stream.
import type { FinishReason, JsonObject, Usage } from '../../core/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';

/** The ways of speaking that the server knows. */
export type WireFormatName = 'chat' | 'responses' | 'anthropic' | 'google' | 'ollama';

/** A stream before it is written. Each of `deltas` brings one piece of the answer and whatever has to stand around it. */
export type StreamParts = {
  readonly open: string;
  readonly deltas: readonly string[];
  readonly close: string;
  /** What says that this was the end. */
  readonly done: string;
};

/** What a writer is told beside the answer. */
export type ResponseWriterContext = {
  readonly index: number;
  readonly body: JsonObject;
  /** The name under which a chat server shows reasoning. */
  readonly reasoningField: 'reasoning' | 'reasoning_content';
  /** Google streams a JSON array unless it is asked for events. */
  readonly asArray: boolean;
};

/** One dialect's writer. */
export type ResponseWriter = {
  readonly streamType: string;
  readonly jsonType: string;
  writeWhole(answer: ResolvedResponse, occasion: ResponseWriterContext): string;
  writeStream(answer: ResolvedResponse, occasion: ResponseWriterContext): StreamParts;
  /** The body of an error reply. */
  writeError(failure: ResolvedFailure): string;
  /** The error inside a stream that began well. */
  writeErrorEvent(failure: ResolvedFailure): string;
};

/** An event without a name. */
export const sseData = (value: string): string => `data: ${value}\n\n`;

/** An event with its name. */
export const sseEvent = (name: string, value: string): string => `event: ${name}\ndata: ${value}\n\n`;

const templateHole = '\u0000';

/**
 * Writes a value again and again with another text in its one place, without building it anew: a stream of many
 * thousand chunks is written as fast as it can be read. `last` gives raw members that come at the end of each.
 */
export function compileTemplate(make: (text: string) => object, last?: () => string): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(make(templateHole)).split(JSON.stringify(templateHole));
  const open = after.slice(0, -1);
  return last
    ? (text) => `${before}${JSON.stringify(text)}${open},${last()}}`
    : (text) => before + JSON.stringify(text) + after;
}

/** The whole of what was counted, with unknown counts as zero; nothing if nothing was counted. */
export function resolveCounts(usage: Usage): Required<Usage> | undefined {
  if (Object.values(usage).every((count) => count === undefined)) return undefined;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return { input, output, cacheRead, cacheWrite, reasoning };
}

/** A finish reason in a dialect's own word. */
export type FinishReasonNames = Readonly<Record<FinishReason, string>>;

/** An arguments text as a value: what it says if it is JSON, the text itself if it is not. */
export function parseArgumentsOrText(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** Seconds since 1970. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
