// The interface of the scripted server's response writers, one per wire format, and what they share.
import type { Json, JsonObject } from '../../core/index.ts';
import { tryParseJson } from '../../wire/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';

/** A stream before it is sent. Each entry of `deltas` has one chunk of the response and the frames around it. */
export type StreamParts = {
  readonly open: string;
  readonly deltas: readonly string[];
  readonly close: string;
  /** The frame that marks the end of the stream. */
  readonly done: string;
};

/** Properties of the request that a writer needs in addition to the response. */
export type ResponseWriterContext = {
  readonly index: number;
  readonly body: JsonObject;
  /** The field in which chat completions return reasoning. */
  readonly reasoningField: 'reasoning' | 'reasoning_content';
  /** Google streams a JSON array unless the request asks for server-sent events. */
  readonly asArray: boolean;
};

/** Writes the responses of one wire format. */
export type ResponseWriter = {
  readonly streamType: string;
  readonly jsonType: string;
  writeWhole(response: ResolvedResponse, context: ResponseWriterContext): string;
  writeStream(response: ResolvedResponse, context: ResponseWriterContext): StreamParts;
  /** Writes the body of an error response. */
  writeError(failure: ResolvedFailure): string;
  /** Writes an error inside a stream that has started. */
  writeErrorEvent(failure: ResolvedFailure): string;
};

const templateHole = '\u0000';

/** Serializes a value once, with a placeholder for one string, so that a stream of many thousand chunks is written as fast as it is read. */
export function compileTemplate(make: (text: string) => object): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(make(templateHole)).split(JSON.stringify(templateHole));
  return (text) => before + JSON.stringify(text) + after;
}

/** Joins opening frames to the first delta and closing frames to the last. */
export const wrapDeltas = (open: string, deltas: readonly string[], close: string): readonly string[] =>
  deltas.map((delta, i) => (i === 0 ? open : '') + delta + (i === deltas.length - 1 ? close : ''));

/** Parses the arguments of a call; returns the text itself if it is not JSON. */
export function parseArgumentsOrText(raw: string): Json {
  const value = tryParseJson(raw);
  return value === undefined ? raw : value;
}

/** The opaque signature that a service returns with its thinking and requires in the next request. */
export const thinkingSignature = ({ index }: ResponseWriterContext): string =>
  Buffer.from(`scripted thought ${index}`).toString('base64');
