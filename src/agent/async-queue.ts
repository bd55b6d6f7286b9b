// A queue between something that calls back and someone who iterates.

/** Push on one side, `for await` on the other; after `close` what is left is still delivered. */
export type AsyncQueue<T> = AsyncIterable<T> & { push(item: T): void; close(error?: Error): void };

/** An empty channel. */
export function createAsyncQueue<T>(): AsyncQueue<T> {
  let items: T[] = [];
  let closed = false;
  let failure: Error | undefined;
  let wake = (): void => {};

  return {
    push(item) {
      items.push(item);
      wake();
    },
    close(error) {
      closed = true;
      failure = error;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const batch = items;
        items = [];
        yield* batch;
        if (items.length) continue;
        if (closed) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure !== undefined) throw failure;
    },
  };
}
