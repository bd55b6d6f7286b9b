// The speed at which the model writes: output tokens per second of the last turn, for a status line.
import type { Chunk, Event } from '../core/index.ts';

/** The output tokens per second of the last turn; absent before the first, and if the provider counts no tokens. */
export type OutputSpeed = { readonly tokensPerSecond?: number };

/** Measures the speed of turns. */
export type SpeedMeter = {
  onChunk(chunk: Chunk): void;
  onEvent(event: Event): void;
  speed(): OutputSpeed;
};

/** Shorter times say nothing: the response arrived at once. */
const minMeasuredMs = 100;

/** Creates a meter. The time begins with the first part of a response, so the reading of the request does not count; without a stream it is the time of the request. */
export function createSpeedMeter(now: () => number = () => performance.now()): SpeedMeter {
  let startedAt: number | undefined;
  let last: OutputSpeed = {};
  return {
    onChunk({ type }) {
      if (type === 'part-started') startedAt ??= now();
      if (type === 'restarted') startedAt = undefined;
    },
    onEvent(event) {
      if (event.type === 'turn-started' || event.type === 'turn-failed') startedAt = undefined;
      if (event.type !== 'turn-ended') return;
      const streamedMs = startedAt === undefined ? 0 : now() - startedAt;
      const ms = streamedMs >= minMeasuredMs ? streamedMs : event.ms;
      const { output = 0 } = event.usage;
      startedAt = undefined;
      last = ms >= minMeasuredMs && output > 0 ? { tokensPerSecond: (output * 1000) / ms } : {};
    },
    speed: () => last,
  };
}
