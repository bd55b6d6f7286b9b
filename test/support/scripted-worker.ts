// Starts a scripted fleet process and sends it commands; they are defined in scripted-worker-process.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** A scripted process. */
export type ScriptedWorker = {
  readonly pid: number;
  /** Waits for a line with this prefix. */
  waitForLine(prefix: string): Promise<string>;
  send(command: string): void;
  ask(command: string): Promise<string>;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Closes its standard input, so that it closes its store and exits. */
  close(): Promise<void>;
};

/** Starts a process; it opens the store at the first command. */
export async function spawnScriptedWorker(t: TestContext, where: string, leaseMs: number): Promise<ScriptedWorker> {
  const program = path.join(import.meta.dirname, 'scripted-worker-process.ts');
  const child = spawn(process.execPath, [program, where, String(leaseMs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = (command: string): void => void child.stdin.write(`${command}\n`);
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    assert.ok(done !== true, 'the process has ended');
    return value;
  };
  const actor: ScriptedWorker = {
    pid: child.pid ?? 0,
    async waitForLine(prefix) {
      for (;;) {
        const line = await next();
        if (line.startsWith(prefix)) return line;
      }
    },
    send: tell,
    ask(command) {
      tell(command);
      return next();
    },
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async close() {
      child.stdin.end();
      await gone;
    },
  };
  await actor.waitForLine('awake');
  return actor;
}

/** Starts a process, and waits until it has opened the store. */
export async function startScriptedWorker(t: TestContext, where: string, leaseMs: number): Promise<ScriptedWorker> {
  const actor = await spawnScriptedWorker(t, where, leaseMs);
  assert.equal(await actor.ask('go'), 'ready');
  return actor;
}
