// Runs a hook: the command as the person wrote it, what it is about on its standard input, and an end to it in time.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { errorMessage, type JsonObject } from '../../core/index.ts';
import type { Hook } from './hook.ts';

/** What became of a command; `trouble` where it gave no answer. */
export type HookRan = {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly trouble?: string;
};

const most = 1_000_000;
/** Milliseconds that a command's output may still come after its end: what it left running may hold the pipe for ever. */
const lag = 300;
const shell = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((each) => existsSync(each)) ?? '/bin/sh';

const failed = (trouble: string): HookRan => ({ code: -1, out: '', err: '', trouble });

/** The hash of a file; nothing where it is none, or cannot be read. */
export function hashOf(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}

/** Runs a hook with this payload. Never throws: what goes wrong is trouble. */
export async function runHook(
  hook: Hook,
  payload: JsonObject,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<HookRan> {
  if (hook.broken !== undefined) return failed(hook.broken);
  const changed = hook.scripts?.find(({ path, hash }) => (hashOf(path) ?? '') !== hash);
  if (changed) return failed(`${changed.path} changed since the hook was approved`);
  const { promise, resolve } = Promise.withResolvers<HookRan>();
  let out = '';
  let err = '';
  let over = false;
  const begun = begin(hook.command, cwd, env);
  if (typeof begun === 'string') return failed(begun);
  const child = begun;
  const settle = (ran: HookRan): void => {
    clearTimeout(timer);
    running.delete(child);
    resolve(ran);
  };
  const timer = setTimeout(() => {
    kill(child);
    settle(failed(`it did not end within ${hook.timeoutMs / 1000} s`));
  }, hook.timeoutMs);
  const take = (text: string): string => {
    over ||= out.length + err.length + text.length > most;
    return over ? '' : text;
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += take(text)));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += take(text)));
  const end = (code: number | null, signal: NodeJS.Signals | null): void =>
    settle(
      over
        ? failed(`it said more than ${most} characters`)
        : code === null
          ? failed(`it was ended by ${signal}`)
          : { code, out, err },
    );
  child.on('error', (error) => settle(failed(`it cannot be started: ${error.message}`)));
  child.on('close', end);
  child.on('exit', (code, signal) => setTimeout(() => end(code, signal), lag).unref());
  // One that reads nothing may be gone before everything is written.
  child.stdin?.on('error', () => {}).end(JSON.stringify(payload));
  return promise;
}

/** Begins it as within another shell: bash takes our pipe for a remote login otherwise, and reads the person's startup file first. */
function begin(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess | string {
  try {
    const child = spawn(shell, ['-c', command], {
      cwd,
      env: { ...env, SHLVL: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    endWithUs(child);
    return child;
  } catch (error) {
    return `it cannot be started: ${errorMessage(error)}`;
  }
}

const running = new Set<ChildProcess>();
let told = false;

/** A group of its own does not hear that we are gone. */
function endWithUs(child: ChildProcess): void {
  running.add(child);
  if (told) return;
  told = true;
  process.on('exit', () => running.forEach(kill));
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
