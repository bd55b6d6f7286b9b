// Opens the set pieces on a face in a terminal, ready to be typed to.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { SEEN_MS } from '../../src/cli/face/readiness.ts';
import { bundle } from './bundle.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

let built: Promise<string> | undefined;

/** The program of set pieces, bundled when it is first wanted. */
export function actor(): Promise<string> {
  built ??= bundle(path.join(import.meta.dirname, 'face-actor.ts'));
  return built;
}

/** A terminal in which the screen waits for its first entry. */
export async function startScreen(t: TestContext, options: TerminalOptions = {}): Promise<Terminal> {
  const terminal = await openTerminal(t, [process.execPath, await actor()], options);
  await terminal.waitFor(/^> *\nscripted/m);
  return terminal;
}

/** Types an entry and sends it. */
export async function enter(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await terminal.keys('Enter');
}

/** Time for a question to be read: sooner it takes no keys. */
export const armed = (): Promise<void> => pause(SEEN_MS + 50);
