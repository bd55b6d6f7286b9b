// Worktrees: an agent works beside the checkout of the user, who sees what changed and merges or discards it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { formatWorktree, openWorktrees } from 'fairlead/worktrees';

async function greet(app: string, stateFolder: string): Promise<void> {
  const worktrees = openWorktrees({ stateFolder });
  const { record, cwd } = await worktrees.create({ cwd: app, purpose: 'greeting' });
  // An agent works in `cwd`, such as `codingAgent({ cwd, … })`; here a program writes a file.
  writeFileSync(path.join(cwd, 'hello.txt'), 'hello, world\n');
  // At the end of its use a worktree without changes is removed; this one is kept until the user decides.
  const content = await worktrees.finish(record.id);
  if (content) console.log(formatWorktree(content));
  const { status, plan } = await worktrees.merge(record.name, { cwd: app });
  console.log(status, plan.changes.length);
}

const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'worktrees-')));
const app = path.join(place, 'app');
const git = (...args: readonly string[]): void => void execFileSync('git', ['-C', app, ...args]);

if (spawnSync('git', ['--version']).status === 0) {
  execFileSync('git', ['init', '-q', '-b', 'main', app]);
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.test');
  writeFileSync(path.join(app, 'hello.txt'), 'hello\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
  await greet(app, path.join(place, 'state'));
  assert.equal(readFileSync(path.join(app, 'hello.txt'), 'utf8'), 'hello, world\n');
} else console.log('Git is not installed, so this example does nothing.');
rmSync(place, { recursive: true });
