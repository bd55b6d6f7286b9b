// Runs the process of a hook: the command as written, JSON on stdin, and a timeout.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { errorMessage, type JsonObject } from '../../core/index.ts';
import { findChangedFile } from '../bound-files.ts';
import type { Hook } from './hook.ts';

/** The result of a hook process; `error` is set if it gave no usable answer. */
export type HookProcessResult = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly error?: string;
};

/** Max characters that a hook may write. */
export const maxHookOutput = 1_000_000;
/** Milliseconds to wait for output after exit: a background process of the hook may keep the pipe open forever. */
const drainMs = 300;
const bashPath = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((each) => existsSync(each)) ?? '/bin/sh';

/** Creates the result of a hook that gave no usable answer. */
export const failedHookResult = (error: string): HookProcessResult => ({ code: -1, stdout: '', stderr: '', error });

/** Returns that a file which the hook runs changed since the approval; undefined if none did. */
export function findChangedScript({ scripts = [] }: Hook): string | undefined {
  const changed = findChangedFile(scripts);
  return changed && `${changed} changed since the hook was approved`;
}

/** Runs a hook with this payload. Never throws: a failure is returned as `error`. */
export async function runHook(
  hook: Hook,
  payload: JsonObject,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<HookProcessResult> {
  if (hook.invalidReason !== undefined) return failedHookResult(hook.invalidReason);
  const changed = findChangedScript(hook);
  if (changed !== undefined) return failedHookResult(changed);
  const { promise, resolve } = Promise.withResolvers<HookProcessResult>();
  let out = '';
  let err = '';
  let exceedsLimit = false;
  const child = spawnHook(hook.command, cwd, env);
  if (typeof child === 'string') return failedHookResult(child);
  const settle = (result: HookProcessResult): void => {
    clearTimeout(timer);
    runningHooks.delete(child);
    resolve(result);
  };
  const timer = setTimeout(() => {
    killHookGroup(child);
    settle(failedHookResult(`it did not finish within ${hook.timeoutMs / 1000} s`));
  }, hook.timeoutMs);
  const limitOutput = (text: string): string => {
    exceedsLimit ||= out.length + err.length + text.length > maxHookOutput;
    return exceedsLimit ? '' : text;
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += limitOutput(text)));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += limitOutput(text)));
  const onEnd = (code: number | null, signal: NodeJS.Signals | null): void =>
    settle(
      exceedsLimit
        ? failedHookResult(`it wrote more than ${maxHookOutput} characters`)
        : code === null
          ? failedHookResult(`it was killed by ${signal}`)
          : { code, stdout: out, stderr: err },
    );
  child.on('error', (error) => settle(failedHookResult(`it cannot be started: ${error.message}`)));
  child.on('close', onEnd);
  child.on('exit', (code, signal) => setTimeout(() => onEnd(code, signal), drainMs).unref());
  // A hook that reads nothing may exit before all input is written.
  child.stdin?.on('error', () => {}).end(JSON.stringify(payload));
  return promise;
}

/** Starts the command with SHLVL set. Otherwise bash treats our pipe as a remote login and reads the user's startup file first. */
function spawnHook(command: string, cwd: string, env: NodeJS.ProcessEnv): ChildProcess | string {
  try {
    const child = spawn(bashPath, ['-c', command], {
      cwd,
      env: { ...env, SHLVL: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    killOnExit(child);
    return child;
  } catch (error) {
    return `it cannot be started: ${errorMessage(error)}`;
  }
}

const runningHooks = new Set<ChildProcess>();
let hasExitListener = false;

/** Kills the process group at exit. It does not receive our signals. */
function killOnExit(child: ChildProcess): void {
  runningHooks.add(child);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => runningHooks.forEach(killHookGroup));
}

function killHookGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}
