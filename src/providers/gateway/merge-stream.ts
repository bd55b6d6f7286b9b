// Two roads woven into one stream: the slow one decides what to try, the fast one carries the chunks of a try to whoever listens.
import type { Chunk } from '../../core/index.ts';
import type { TimedStream, EndChunk } from './timed-stream.ts';

/** The slow road: chunks of its own, and attempts to be heard to their end. It goes on with the end, or with what went wrong thrown into it. */
export type AttemptGenerator = AsyncGenerator<Chunk | { readonly stream: TimedStream }, void, EndChunk | undefined>;

/** The stream of both. While an attempt is heard the slow road stands still, and a chunk costs one promise. */
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
