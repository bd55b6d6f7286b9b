// Merges the retry loop with the chunk stream of the current attempt, so that a chunk costs one promise.
import type { Chunk } from '../../core/index.ts';
import type { TimedStream, EndChunk } from './timed-stream.ts';

/** The retry loop: yields chunks and attempts; receives the end of each attempt, or its error as an exception. */
export type AttemptGenerator = AsyncGenerator<Chunk | { readonly stream: TimedStream }, void, EndChunk | undefined>;

/** Returns the merged stream. The retry loop is paused while an attempt streams. */
export function mergeStream(road: AttemptGenerator): AsyncIterableIterator<Chunk, void> {
  let heard: TimedStream | undefined;

  async function onward(step: ReturnType<AttemptGenerator['next']>): Promise<IteratorResult<Chunk, void>> {
    heard = undefined;
    const next = await step;
    if (next.done || 'type' in next.value) return next as IteratorResult<Chunk, void>;
    heard = next.value.stream;
    return listen(heard);
  }

  const listen = (to: TimedStream): Promise<IteratorResult<Chunk, void>> =>
    new Promise((resolve) =>
      to.readNext({
        onChunk: resolve,
        onEnd: (end) => resolve(onward(road.next(end))),
        onError: (error) => resolve(onward(road.throw(error))),
      }),
    );

  return {
    next: () => (heard ? listen(heard) : onward(road.next())),
    async return() {
      heard = undefined;
      await road.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
