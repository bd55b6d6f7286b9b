// What comes out of a command while it runs: what is new since the last look, and a way to wait for more.
import { createBoundedText, type OutputSize } from '../../core/index.ts';
import { maxShownChars, formatOutputSize } from './format-result.ts';

/** When to look: at once, or when the command has ended, has written these words, or this much time is over. */
export type OutputWait = { readonly ms: number; readonly until?: string; readonly signal: AbortSignal };

/** The output of one command, taken as it comes. */
export type OutputReader = {
  append(text: string, so: OutputSize): void;
  /** Says how the command ended. */
  end(how: string): void;
  /** How it ended, if it has. */
  ended(): string | undefined;
  /** Waits for the end, for words in what is new, for the time, or for the signal. */
  wait(wait: OutputWait): Promise<void>;
  /** What is new, and of how much if that is not all of it; it is not new any more. */
  read(): { readonly text: string; readonly size: readonly string[] };
};

/** Nothing has come yet. */
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
    end(said) {
      how = said;
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
          // The words may come in two pieces.
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
