// Another process that has a session open for writing and executes commands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** The other process. */
export type SessionWriterProcess = {
  readonly pid: number;
  /** Sends `append` or `close`, and returns the reply. */
  ask(command: string): Promise<string>;
  /** Kills it without cleanup. */
  kill(): Promise<void>;
};

/** Starts a process that opens a session file; it ends with the test. */
export async function startSessionWriterProcess(t: TestContext, file: string): Promise<SessionWriterProcess> {
  const program = path.join(import.meta.dirname, '../crash/writer-process.ts');
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async (): Promise<string> => String((await lines.next()).value);
  const ask = (command: string): Promise<string> => {
    child.stdin.write(`${command}\n`);
    return hear();
  };
  assert.equal(await hear(), 'awake');
  assert.equal(await ask('open'), 'opened');
  const gone = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    ask,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
