// Buffered standard output that survives a closed pipe.
import type { Writable } from 'node:stream';
import { createEscapeStream } from './escape-stream.ts';

/** A buffered output. */
export type BufferedStdout = {
  readonly write: (text: string) => void;
  /** Waits until everything is written; returns whether the reader is still there. */
  readonly flush: () => Promise<boolean>;
};

/** Creates an output that writes once per event-loop turn instead of once per text; calls `onClosed` when the reader closes the pipe. Output to a terminal is escaped. */
export function createBufferedStdout(
  stream: Writable & { readonly isTTY?: boolean },
  onClosed: () => void,
): BufferedStdout {
  const escapeStream = stream.isTTY ? createEscapeStream() : undefined;
  let buffered = '';
  let scheduled = false;
  let closed = false;
  stream.on('error', () => {
    closed = true;
    onClosed();
  });
  const flush = (): void => {
    scheduled = false;
    const text = escapeStream?.push(buffered) ?? buffered;
    buffered = '';
    if (text && !closed) stream.write(text);
  };
  return {
    write(text) {
      buffered += text;
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
    async flush() {
      flush();
      if (closed) return false;
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.write(escapeStream?.end() ?? '', () => resolve());
      await promise;
      return !closed;
    },
  };
}
