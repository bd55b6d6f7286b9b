// Runs a process on worktrees with a git that fails at one command, or at which the process is killed.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { WorktreeFixture } from './worktree-fixture.ts';

/** The program that creates, merges or discards one worktree. */
export const worktreeProgram: string = path.join(import.meta.dirname, 'worktree-process.ts');

/** What happens at a command of git. */
export type GitFailure = {
  /** The words of the git command at which it happens. */
  readonly at: string;
  /** Shell commands in its place; `real` runs it, `end` kills the process that started it. */
  readonly script: string;
};

/** Runs the program with a git that fails at one command. */
export function runWithGitFailure(
  { place, root, state }: WorktreeFixture,
  action: string,
  { at, script }: GitFailure,
): { readonly signal: NodeJS.Signals | null; readonly stdout: string } {
  const bin = mkdtempSync(path.join(place, 'bin-'));
  const real = spawnSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
  const text = `#!/bin/sh\nreal() { '${real}' "$@"; }\nend() { kill -9 $PPID; exit 1; }\ncase " $* " in *" ${at} "*) ${script} ;; *) exec '${real}' "$@" ;; esac\n`;
  writeFileSync(path.join(bin, 'git'), text);
  chmodSync(path.join(bin, 'git'), 0o755);
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  return spawnSync(process.execPath, [worktreeProgram, action, root, state], { env, encoding: 'utf8' });
}
