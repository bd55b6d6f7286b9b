// Asks the person at the terminal for one line. What was typed before the question could be read is no answer to it.
import { createInterface } from 'node:readline/promises';
import { escapeInvisible } from '../../core/index.ts';
import { MIN_VISIBLE_MS, MIN_IDLE_MS } from '../tui/question-queue.ts';
import { printErr } from '../args/stdio.ts';

const INTERRUPT = '\x03';
const END_OF_INPUT = '\x04';

/** A line as the answer to a few keys: in small letters, or nothing where the signal came or the input ended. */
export const readAnswerKey = async (words: string, prompt: string, signal?: AbortSignal): Promise<string | undefined> =>
  (await readAnswerLine(words, prompt, signal))?.toLowerCase();

/** Says the words, and when they can have been read asks for a line: as it was typed, or nothing where the signal came or the input ended. */
export async function readAnswerLine(words: string, prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  printErr(`${words}\n`);
  if (!(await waitForIdleInput(process.stdin, signal))) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // In the terminal's raw mode the key is no signal by itself.
  terminal.on('SIGINT', interruptSelf);
  try {
    return (await terminal.question(escapeInvisible(prompt), signal ? { signal } : {})).trim();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    printErr('\n');
    return undefined;
  } finally {
    terminal.close();
  }
}

const interruptSelf = (): void => void process.kill(process.pid, 'SIGINT');

/** Drops what was typed ahead until nothing has come for a while; whether the person may then be asked. In raw mode a line that was only begun is dropped too. */
async function waitForIdleInput(input: NodeJS.ReadStream, signal: AbortSignal | undefined): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const since = Date.now();
  const ask = (): void => resolve(true);
  const leave = (): void => resolve(false);
  let timer = setTimeout(ask, MIN_VISIBLE_MS);
  const onKeys = (typed: Buffer): void => {
    const keys = String(typed);
    if (keys.includes(INTERRUPT)) interruptSelf();
    else if (keys.includes(END_OF_INPUT)) leave();
    clearTimeout(timer);
    timer = setTimeout(ask, Math.max(MIN_IDLE_MS, since + MIN_VISIBLE_MS - Date.now()));
  };
  if (signal?.aborted) return false;
  signal?.addEventListener('abort', leave);
  input.setRawMode(true);
  input.on('data', onKeys).once('end', leave).resume();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
    input.off('data', onKeys).off('end', leave).pause();
    input.setRawMode(false);
  }
}
