// Reads the output of a running command: what is new since the last read, and a way to wait for more.
import { createBoundedText, type OutputSize } from '../../core/index.ts';
import { maxShownChars, formatOutputSize } from './format-result.ts';

/** When to return: at once, or when the command has ended, has written a text, or after a timeout. */
export type OutputWait = { readonly ms: number; readonly until?: string; readonly signal: AbortSignal };

/** The output of one command. */
export type OutputReader = {
  append(text: string, so: OutputSize): void;
  /** Sets how the command ended. */
  end(how: string): void;
  /** Returns how it ended, if it has. */
  ended(): string | undefined;
  /** Waits for the end, for a text in the new output, for the timeout, or for the signal. */
  wait(wait: OutputWait): Promise<void>;
  /** Returns the new output, and its full size if truncated. It then counts as read. */
  read(): { readonly text: string; readonly size: readonly string[] };
};

/** Creates an empty reader. */
export function createOutputReader(): OutputReader {
  const waiting = new Set<(text: string) => void>();
  let fresh = createBoundedText(maxShownChars);
  let written: OutputSize | undefined;
  let how: string | undefined;
  const wakeAll = (text: string): void => waiting.forEach((wake) => wake(text));
  return {
    append(text, so) {
      fresh.add(text);
      written = so;
      wakeAll(text);
    },
    end(endText) {
      how = endText;
      wakeAll('');
    },
    ended: () => how,
    wait({ ms, until, signal }) {
      let seen = until === undefined ? '' : fresh.text();
      const isOver = (): boolean => how !== undefined || (until !== undefined && seen.includes(until));
      if (ms <= 0 || signal.aborted || isOver()) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(wake);
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const wake = (text: string): void => {
          // The text may arrive in two chunks.
          seen = seen.slice(-(until?.length ?? 1)) + text;
          if (isOver()) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(wake);
        signal.addEventListener('abort', done);
      });
    },
    read() {
      const size = fresh.isTruncated() ? formatOutputSize(written) : [];
      const text = fresh.text();
      fresh = createBoundedText(maxShownChars);
      return { text, size };
    },
  };
}
