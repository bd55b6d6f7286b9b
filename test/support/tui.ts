// Opens the set pieces on a face in a terminal, ready to be typed to.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MIN_VISIBLE_MS } from '../../src/cli/tui/question-queue.ts';
import { bundleProgram } from './bundle.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

let bundledProgram: Promise<string> | undefined;

/** The program of set pieces, bundled when it is first wanted. */
export function bundleTuiProgram(): Promise<string> {
  bundledProgram ??= bundleProgram(path.join(import.meta.dirname, 'tui-program.ts'));
  return bundledProgram;
}

/** A terminal in which the screen waits for its first entry. */
export async function startTui(t: TestContext, options: TerminalOptions = {}): Promise<Terminal> {
  const terminal = await openTerminal(t, [process.execPath, await bundleTuiProgram()], options);
  await terminal.waitFor(/^> *\nscripted/m);
  return terminal;
}

/** Types an entry and sends it. */
export async function enterLine(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await terminal.keys('Enter');
}

/** Time for a question to be read: sooner it takes no keys. */
export const waitUntilArmed = (): Promise<void> => pause(MIN_VISIBLE_MS + 50);
