// What every dialect's writer makes of an answer: a body in one piece, or the pieces of a stream.
import type { FinishReason, JsonObject, Usage } from '../../core/index.ts';
import type { FullFailure } from '../failure.ts';
import type { FullAnswer } from '../script.ts';

/** The ways of speaking that the server knows. */
export type Dialect = 'chat' | 'responses' | 'anthropic' | 'google' | 'ollama';

/** A stream before it is written. Each of `deltas` brings one piece of the answer and whatever has to stand around it. */
export type Stream = {
  readonly open: string;
  readonly deltas: readonly string[];
  readonly close: string;
  /** What says that this was the end. */
  readonly done: string;
};

/** What a writer is told beside the answer. */
export type Occasion = {
  readonly index: number;
  readonly body: JsonObject;
  /** The name under which a chat server shows reasoning. */
  readonly reasoningField: 'reasoning' | 'reasoning_content';
  /** Google streams a JSON array unless it is asked for events. */
  readonly asArray: boolean;
};

/** One dialect's writer. */
export type Speaker = {
  readonly streamType: string;
  readonly jsonType: string;
  whole(answer: FullAnswer, occasion: Occasion): string;
  stream(answer: FullAnswer, occasion: Occasion): Stream;
  /** The body of an error reply. */
  failure(failure: FullFailure): string;
  /** The error inside a stream that began well. */
  failureEvent(failure: FullFailure): string;
};

/** An event without a name. */
export const data = (value: string): string => `data: ${value}\n\n`;

/** An event with its name. */
export const event = (name: string, value: string): string => `event: ${name}\ndata: ${value}\n\n`;

const hole = '\u0000';

/**
 * Writes a value again and again with another text in its one place, without building it anew: a stream of many
 * thousand chunks is written as fast as it can be read. `last` gives raw members that come at the end of each.
 */
export function stamp(make: (text: string) => object, last?: () => string): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(make(hole)).split(JSON.stringify(hole));
  const open = after.slice(0, -1);
  return last
    ? (text) => `${before}${JSON.stringify(text)}${open},${last()}}`
    : (text) => before + JSON.stringify(text) + after;
}

/** The whole of what was counted, with unknown counts as zero; nothing if nothing was counted. */
export function counted(usage: Usage): Required<Usage> | undefined {
  if (Object.values(usage).every((count) => count === undefined)) return undefined;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return { input, output, cacheRead, cacheWrite, reasoning };
}

/** A finish reason in a dialect's own word. */
export type FinishWords = Readonly<Record<FinishReason, string>>;

/** An arguments text as a value: what it says if it is JSON, the text itself if it is not. */
export function argumentsValue(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** Seconds since 1970. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
