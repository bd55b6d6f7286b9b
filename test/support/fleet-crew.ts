// Starts the worker processes of a fleet, which are killed with the test; what they do stands in fleet-hand.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { bundle } from './bundle.ts';
import { until } from './fleet.ts';

/** A worker process. */
export type Hand = {
  readonly pid: number;
  /** What it has said so far. */
  said(): string;
  /** Waits until it has said a line. */
  says(line: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** How it ended: its exit code, or the signal that killed it. */
  readonly ended: Promise<number | string>;
};

/** Starts a worker process on a store. */
export type Hire = (t: TestContext, where: string, outside: string, leaseMs: number) => Hand;

/** Prepares worker processes that start quickly. */
export async function crew(): Promise<Hire> {
  const program = await bundle(path.join(import.meta.dirname, 'fleet-hand.ts'));
  return (t, where, outside, leaseMs) => {
    const words = [program, where, outside, String(leaseMs)];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    return {
      pid: child.pid ?? 0,
      said: () => said,
      says: (line) => until(`a worker says: ${line}`, () => said.split('\n').includes(line)),
      signal: (name) => void child.kill(name),
      ended: once(child, 'close').then(([code, signal]: (number | string)[]) => code ?? signal ?? ''),
    };
  };
}
