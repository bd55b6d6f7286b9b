// Two roads woven into one stream: the slow one decides what to try, the fast one carries the chunks of a try to whoever listens.
import type { Chunk } from '../../core/index.ts';
import type { Attempt, End } from './attempt.ts';

/** The slow road: chunks of its own, and attempts to be heard to their end. It goes on with the end, or with what went wrong thrown into it. */
export type Road = AsyncGenerator<Chunk | { readonly heard: Attempt }, void, End | undefined>;

/** The stream of both. While an attempt is heard the slow road stands still, and a chunk costs one promise. */
export function weave(road: Road): AsyncIterableIterator<Chunk, void> {
  let heard: Attempt | undefined;

  async function onward(step: ReturnType<Road['next']>): Promise<IteratorResult<Chunk, void>> {
    heard = undefined;
    const next = await step;
    if (next.done || 'type' in next.value) return next as IteratorResult<Chunk, void>;
    heard = next.value.heard;
    return listen(heard);
  }

  const listen = (to: Attempt): Promise<IteratorResult<Chunk, void>> =>
    new Promise((resolve) =>
      to.hear({
        chunk: resolve,
        end: (end) => resolve(onward(road.next(end))),
        failed: (error) => resolve(onward(road.throw(error))),
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
