// Opens the scripted UI program in a terminal, ready for input.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MIN_VISIBLE_MS } from '../../src/cli/tui/question-queue.ts';
import { bundleProgram } from './bundle.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

let bundledProgram: Promise<string> | undefined;

/** Bundles the scripted UI program at its first use. */
export function bundleTuiProgram(): Promise<string> {
  bundledProgram ??= bundleProgram(path.join(import.meta.dirname, 'tui-program.ts'));
  return bundledProgram;
}

/** Opens a terminal in which the screen waits for its first input. */
export async function startTui(t: TestContext, options: TerminalOptions = {}): Promise<Terminal> {
  const terminal = await openTerminal(t, [process.execPath, await bundleTuiProgram()], options);
  await terminal.waitFor(/^> *\nscripted/m);
  return terminal;
}

/** Types a line and submits it. */
export async function enterLine(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await terminal.keys('Enter');
}

/** Waits until a question accepts keys. */
export const waitUntilArmed = (): Promise<void> => pause(MIN_VISIBLE_MS + 50);
