// Runs the process of a hook inside the sandbox: what it runs (scripts, package.json, a Makefile) can be written by a sandboxed command.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorMessage, type ExecOptions, type ExecResult, type JsonObject } from '../../core/index.ts';
import type { SandboxAccess } from '../sandbox/sandbox.ts';
import { failedHookResult, findChangedScript, maxHookOutput, type HookProcessResult } from './hook-process.ts';
import type { Hook } from './hook.ts';

/** Runs a program inside the sandbox of the commands. */
export type ConfinedExec = (
  argv: readonly string[],
  options: ExecOptions & SandboxAccess & { readonly cwd: string },
) => Promise<ExecResult>;

/** Stdin comes from a file and stderr goes to one, because a sandboxed command has one output. The marker separates the two outputs. */
const script =
  'bash -c "$1" <"$2" 2>"/tmp/$3.err"; code=$?; printf "\\n%s\\n" "$3"; cat "/tmp/$3.err" 2>/dev/null; exit "$code"';

/** Runs a hook with this payload inside the sandbox. Never throws: a failure is returned as `error`. */
export async function runConfinedHook(
  hook: Hook,
  payload: JsonObject,
  { cwd, exec }: { readonly cwd: string; readonly exec: ConfinedExec },
): Promise<HookProcessResult> {
  const changed = findChangedScript(hook);
  if (changed !== undefined) return failedHookResult(changed);
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-hook-'));
  const marker = `end-of-output-${randomUUID()}`;
  try {
    const input = path.join(folder, 'payload.json');
    writeFileSync(input, JSON.stringify(payload), { mode: 0o600 });
    const environment = ['CLAUDE_PROJECT_DIR', 'FAIRLEAD_PROJECT_DIR'].map((name) => `${name}=${cwd}`);
    const result = await exec(
      ['/usr/bin/env', ...environment, 'bash', '-c', script, 'hook', hook.command, input, marker],
      { cwd, timeoutMs: hook.timeoutMs, maxChars: 2 * maxHookOutput, readable: [input] },
    );
    return toHookResult(result, marker, hook);
  } catch (error) {
    return failedHookResult(`it cannot be started in the sandbox: ${errorMessage(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function toHookResult({ code, signal, text, stopped }: ExecResult, marker: string, hook: Hook): HookProcessResult {
  if (stopped) return failedHookResult(`it did not finish within ${hook.timeoutMs / 1000} s`);
  if (code === null) return failedHookResult(`it was killed by ${signal}`);
  const end = text.indexOf(`\n${marker}\n`);
  if (end < 0) return failedHookResult(`it ended without a result: ${text.slice(-300).trim()}`);
  if (text.length > maxHookOutput) return failedHookResult(`it wrote more than ${maxHookOutput} characters`);
  return { code, stdout: text.slice(0, end), stderr: text.slice(end + marker.length + 2) };
}
