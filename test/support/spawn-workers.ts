// Starts worker processes that are killed with the test; their program is worker-process.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { bundleProgram } from './bundle.ts';
import { waitUntilTrue } from './fleet-program.ts';

/** A worker process. */
export type WorkerProcess = {
  readonly pid: number;
  /** Its output lines so far. */
  output(): string;
  /** Waits for an output line. */
  waitForLine(line: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Its exit code or signal. */
  readonly ended: Promise<number | string>;
};

/** Starts a worker process on a store. */
export type SpawnWorker = (t: TestContext, where: string, outside: string, leaseMs: number) => WorkerProcess;

/** Bundles the worker program, so that its processes start quickly. */
export async function createWorkerSpawner(): Promise<SpawnWorker> {
  const program = await bundleProgram(path.join(import.meta.dirname, 'worker-process.ts'));
  return (t, where, outside, leaseMs) => {
    const args = [program, where, outside, String(leaseMs)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    return {
      pid: child.pid ?? 0,
      output: () => said,
      waitForLine: (line) => waitUntilTrue(`a worker says: ${line}`, () => said.split('\n').includes(line)),
      signal: (name) => void child.kill(name),
      ended: once(child, 'close').then(([code, signal]: (number | string)[]) => code ?? signal ?? ''),
    };
  };
}
