// Asks the user for one line on the terminal; input that was typed before the question was readable is dropped.
import { createInterface } from 'node:readline/promises';
import { escapeInvisible } from '../../core/index.ts';
import { MIN_VISIBLE_MS, MIN_IDLE_MS } from '../tui/question-queue.ts';
import { printErr } from '../args/stdio.ts';

const INTERRUPT = '\x03';
const END_OF_INPUT = '\x04';

/** Prints the text, waits until the user could read it, and reads a line; undefined if the signal was aborted or the input ended. */
export async function readAnswerLine(text: string, prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  if (signal?.aborted) return undefined;
  printErr(`${text}\n`);
  if (!(await waitForIdleInput(process.stdin, signal))) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode Ctrl+C does not send a signal.
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

/** Drops typed input until there was none for a while; returns whether the user may be asked. In raw mode this also drops a line without Enter. */
async function waitForIdleInput(input: NodeJS.ReadStream, signal: AbortSignal | undefined): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const since = Date.now();
  const proceed = (): void => resolve(true);
  const stop = (): void => resolve(false);
  let timer = setTimeout(proceed, MIN_VISIBLE_MS);
  const onKeys = (typed: Buffer): void => {
    const keys = String(typed);
    if (keys.includes(INTERRUPT)) interruptSelf();
    else if (keys.includes(END_OF_INPUT)) stop();
    clearTimeout(timer);
    timer = setTimeout(proceed, Math.max(MIN_IDLE_MS, since + MIN_VISIBLE_MS - Date.now()));
  };
  if (signal?.aborted) return false;
  signal?.addEventListener('abort', stop);
  input.setRawMode(true);
  input.on('data', onKeys).once('end', stop).resume();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    input.off('data', onKeys).off('end', stop).pause();
    input.setRawMode(false);
  }
}
