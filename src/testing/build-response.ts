// Builds the HTTP response for a scripted answer: the body in the wire format, and its transport failures.
import type { ScriptedResponse, RawScriptedResponse, ScriptedError } from './scripted-response.ts';
import type { OutgoingResponse } from './send-response.ts';
import { resolveFailure } from './failure.ts';
import type { ResponseWriterContext, ResponseWriter } from './response-writers/writer.ts';
import type { ResolvedResponse } from './script.ts';

/** Builds the response to a request. */
export function buildResponse(
  answer: ResolvedResponse,
  speaker: ResponseWriter,
  occasion: ResponseWriterContext,
  streaming: boolean,
): OutgoingResponse {
  if (answer.raw) return buildRawResponse(answer.raw, answer);
  if (answer.error && (answer.cutAfter === undefined || !streaming))
    return buildFailureResponse(answer.error, speaker, answer);
  const { wire = {}, cutAfter } = answer;
  const base = {
    ...timingOptions(answer),
    status: wire.status ?? 200,
    headers: {
      'content-type': wire.contentType ?? (streaming ? streamType(speaker, occasion) : speaker.jsonType),
      ...(streaming ? { 'cache-control': 'no-cache' } : {}),
      ...wire.headers,
    },
    ending:
      cutAfter === undefined || answer.error ? ('end' as const) : answer.hang ? ('hang' as const) : ('cut' as const),
  };
  if (streaming) return { ...base, parts: streamParts(answer, speaker, occasion) };
  const whole = speaker.writeWhole(answer, occasion) + (wire.trailing ?? '');
  const broken = wire.malformed === undefined ? whole : whole.slice(0, -1);
  return { ...base, parts: [cutAfter === undefined ? broken : broken.slice(0, Math.floor(broken.length / 2))] };
}

const streamType = (speaker: ResponseWriter, { asArray }: ResponseWriterContext): string =>
  asArray ? speaker.jsonType : speaker.streamType;

function streamParts(
  answer: ResolvedResponse,
  speaker: ResponseWriter,
  occasion: ResponseWriterContext,
): readonly string[] {
  const { wire = {}, cutAfter } = answer;
  const { open, deltas, close, done } = speaker.writeStream(answer, occasion);
  const sent =
    wire.malformed === undefined ? deltas : deltas.with(wire.malformed, withoutLastBrace(deltas[wire.malformed] ?? ''));
  if (cutAfter !== undefined) {
    const error = answer.error ? [speaker.writeErrorEvent(resolveFailure(answer.error))] : [];
    return [open, ...sent.slice(0, cutAfter), ...error];
  }
  const ends = wire.done === 'missing' ? [] : wire.done === 'twice' ? [done, done] : [done];
  return [open, ...sent, close, ...ends, ...(wire.trailing === undefined ? [] : [wire.trailing])];
}

/** The same chunk without its last closing brace. */
function withoutLastBrace(delta: string): string {
  const at = delta.lastIndexOf('}');
  return delta.slice(0, at) + delta.slice(at + 1);
}

function buildFailureResponse(
  error: ScriptedError,
  speaker: ResponseWriter,
  answer: ScriptedResponse,
): OutgoingResponse {
  const failure = resolveFailure(error);
  const { wire = {} } = answer;
  const wait = failure.afterMs;
  return {
    ...timingOptions(answer),
    status: wire.status ?? failure.status,
    headers: {
      'content-type': wire.contentType ?? speaker.jsonType,
      ...(wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait / 1000)), 'retry-after-ms': String(wait) }),
      ...wire.headers,
    },
    parts: [speaker.writeError(failure)],
    ending: 'end',
  };
}

function buildRawResponse(
  { status, headers, body, cutAt, splitEvery }: RawScriptedResponse,
  answer: ScriptedResponse,
): OutgoingResponse {
  return {
    ...timingOptions(answer),
    status: status ?? 200,
    headers: headers ?? {},
    ...(typeof body === 'string' ? { parts: [body] } : { parts: [], bytes: body }),
    ...(cutAt === undefined ? {} : { cutAt }),
    ...(splitEvery === undefined ? {} : { splitEvery }),
    ending: 'end',
  };
}

const timingOptions = ({
  delayMs,
  chunkMs,
  hang,
  cutAfter,
  wire = {},
}: ScriptedResponse): Partial<OutgoingResponse> => ({
  ...(delayMs === undefined ? {} : { beforeMs: delayMs }),
  ...(hang && cutAfter === undefined ? { silent: true } : {}),
  ...(chunkMs === undefined ? {} : { partMs: chunkMs }),
  ...(wire.firstByteMs === undefined ? {} : { firstByteMs: wire.firstByteMs }),
  ...(wire.stall === undefined ? {} : { stall: wire.stall }),
  ...(wire.cutAt === undefined ? {} : { cutAt: wire.cutAt }),
  ...(wire.splitEvery === undefined ? {} : { splitEvery: wire.splitEvery }),
  ...(wire.gzip === undefined ? {} : { gzip: wire.gzip }),
});
