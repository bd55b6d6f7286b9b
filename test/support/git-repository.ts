// A git repository for tests: it is made once in a process, and every later one is a copy without further git processes.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Runs git as the user and returns its output. */
export const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

let template: string | undefined;

/** Creates a repository with one commit of `a.txt` on `main`, as the user. */
export function createRepository(root: string): void {
  template ??= createTemplate();
  cpSync(template, root, { recursive: true });
}

function createTemplate(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-repository-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  git(folder, 'init', '-q', '-b', 'main', '.');
  // Every copy would hold and remove the examples of hooks, which do nothing.
  rmSync(path.join(folder, '.git/hooks'), { recursive: true });
  mkdirSync(path.join(folder, '.git/hooks'));
  git(folder, 'config', 'user.name', 'Ada');
  git(folder, 'config', 'user.email', 'ada@example.test');
  writeFileSync(path.join(folder, 'a.txt'), 'one\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'first');
  return folder;
}
