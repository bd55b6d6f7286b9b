// Standard output that many small writes do not slow down and a closed pipe does not break.
import type { Writable } from 'node:stream';

/** Writes what was gathered once in a while instead of each piece; `drained` waits until it is out. */
export function steadyOut(
  stream: Writable,
  gone: () => void,
): { readonly write: (text: string) => void; readonly drained: () => Promise<void> } {
  let waiting = '';
  let planned = false;
  let broken = false;
  stream.once('error', () => {
    broken = true;
    gone();
  });
  const flush = (): void => {
    planned = false;
    if (waiting && !broken) stream.write(waiting);
    waiting = '';
  };
  return {
    write(text) {
      waiting += text;
      if (planned) return;
      planned = true;
      setImmediate(flush);
    },
    async drained() {
      flush();
      if (broken) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.write('', () => resolve());
      await promise;
    },
  };
}
