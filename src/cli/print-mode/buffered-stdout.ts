// Standard output that many small writes do not slow down and a closed pipe does not break.
import type { Writable } from 'node:stream';
import { createEscapeStream } from './escape-stream.ts';

/** Somewhere to write to that may go away. */
export type BufferedStdout = {
  readonly write: (text: string) => void;
  /** Waits until everything is out; says whether anybody still reads. */
  readonly flush: () => Promise<boolean>;
};

/** Writes what was gathered once in a while instead of each piece; calls back when the reader hangs up. What goes to a terminal cannot drive it. */
export function createBufferedStdout(
  stream: Writable & { readonly isTTY?: boolean },
  gone: () => void,
): BufferedStdout {
  const pieces = stream.isTTY ? createEscapeStream() : undefined;
  let waiting = '';
  let planned = false;
  let broken = false;
  stream.on('error', () => {
    broken = true;
    gone();
  });
  const flush = (): void => {
    planned = false;
    const text = pieces?.push(waiting) ?? waiting;
    waiting = '';
    if (text && !broken) stream.write(text);
  };
  return {
    write(text) {
      waiting += text;
      if (planned) return;
      planned = true;
      setImmediate(flush);
    },
    async flush() {
      flush();
      if (broken) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.write(pieces?.end() ?? '', () => resolve());
      await promise;
      return !broken;
    },
  };
}
