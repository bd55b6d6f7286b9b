// From an answer to the reply that carries it: the dialect's body, and where and how it goes wrong.
import type { Answer, RawReply, ScriptedError } from './answer.ts';
import type { Reply } from './delivery.ts';
import { fullFailure } from './failure.ts';
import type { Occasion, Speaker } from './replies/reply.ts';
import type { FullAnswer } from './script.ts';

/** The reply to a request. */
export function plan(answer: FullAnswer, speaker: Speaker, occasion: Occasion, streaming: boolean): Reply {
  if (answer.raw) return planRaw(answer.raw, answer);
  if (answer.error && (answer.cutAfter === undefined || !streaming)) return planFailure(answer.error, speaker, answer);
  const { wire = {}, cutAfter } = answer;
  const base = {
    ...timing(answer),
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
  const whole = speaker.whole(answer, occasion) + (wire.trailing ?? '');
  const broken = wire.malformed === undefined ? whole : whole.slice(0, -1);
  return { ...base, parts: [cutAfter === undefined ? broken : broken.slice(0, Math.floor(broken.length / 2))] };
}

const streamType = (speaker: Speaker, { asArray }: Occasion): string =>
  asArray ? speaker.jsonType : speaker.streamType;

function streamParts(answer: FullAnswer, speaker: Speaker, occasion: Occasion): readonly string[] {
  const { wire = {}, cutAfter } = answer;
  const { open, deltas, close, done } = speaker.stream(answer, occasion);
  const sent =
    wire.malformed === undefined ? deltas : deltas.with(wire.malformed, unclosed(deltas[wire.malformed] ?? ''));
  if (cutAfter !== undefined) {
    const error = answer.error ? [speaker.failureEvent(fullFailure(answer.error))] : [];
    return [open, ...sent.slice(0, cutAfter), ...error];
  }
  const ends = wire.done === 'missing' ? [] : wire.done === 'twice' ? [done, done] : [done];
  return [open, ...sent, close, ...ends, ...(wire.trailing === undefined ? [] : [wire.trailing])];
}

/** The same chunk without its last closing brace. */
function unclosed(delta: string): string {
  const at = delta.lastIndexOf('}');
  return delta.slice(0, at) + delta.slice(at + 1);
}

function planFailure(error: ScriptedError, speaker: Speaker, answer: Answer): Reply {
  const failure = fullFailure(error);
  const { wire = {} } = answer;
  const wait = failure.afterMs;
  return {
    ...timing(answer),
    status: wire.status ?? failure.status,
    headers: {
      'content-type': wire.contentType ?? speaker.jsonType,
      ...(wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait / 1000)), 'retry-after-ms': String(wait) }),
      ...wire.headers,
    },
    parts: [speaker.failure(failure)],
    ending: 'end',
  };
}

function planRaw({ status, headers, body, cutAt, splitEvery }: RawReply, answer: Answer): Reply {
  return {
    ...timing(answer),
    status: status ?? 200,
    headers: headers ?? {},
    ...(typeof body === 'string' ? { parts: [body] } : { parts: [], bytes: body }),
    ...(cutAt === undefined ? {} : { cutAt }),
    ...(splitEvery === undefined ? {} : { splitEvery }),
    ending: 'end',
  };
}

const timing = ({ delayMs, chunkMs, hang, cutAfter, wire = {} }: Answer): Partial<Reply> => ({
  ...(delayMs === undefined ? {} : { beforeMs: delayMs }),
  ...(hang && cutAfter === undefined ? { mute: true } : {}),
  ...(chunkMs === undefined ? {} : { partMs: chunkMs }),
  ...(wire.firstByteMs === undefined ? {} : { firstByteMs: wire.firstByteMs }),
  ...(wire.stall === undefined ? {} : { stall: wire.stall }),
  ...(wire.cutAt === undefined ? {} : { cutAt: wire.cutAt }),
  ...(wire.splitEvery === undefined ? {} : { splitEvery: wire.splitEvery }),
  ...(wire.gzip === undefined ? {} : { gzip: wire.gzip }),
});
