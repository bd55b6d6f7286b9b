// Worktrees: an agent works beside the checkout of the user, who sees what changed and merges or discards it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { formatWorktree, openWorktrees } from 'fairlead/worktrees';

if (spawnSync('git', ['--version']).status !== 0) {
  console.log('Git is not installed, so this example does nothing.');
  process.exit();
}
const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'worktrees-')));
const app = path.join(place, 'app');
execFileSync('git', ['init', '-q', '-b', 'main', app]);
for (const [key, value] of [
  ['user.name', 'Ada'],
  ['user.email', 'ada@example.test'],
])
  execFileSync('git', ['-C', app, 'config', key ?? '', value ?? '']);
writeFileSync(path.join(app, 'hello.txt'), 'hello\n');
execFileSync('git', ['-C', app, 'add', '-A']);
execFileSync('git', ['-C', app, 'commit', '-qm', 'first']);

const worktrees = openWorktrees({ stateFolder: path.join(place, 'state') });
const { record, cwd } = await worktrees.create({ cwd: app, purpose: 'greeting' });

// An agent works in `cwd`, such as `codingAgent({ cwd })`; here a program writes a file.
writeFileSync(path.join(cwd, 'hello.txt'), 'hello, world\n');
assert.equal(readFileSync(path.join(app, 'hello.txt'), 'utf8'), 'hello\n');

// At the end of its use a worktree without changes is removed; this one is kept until the user decides.
const content = await worktrees.finish(record.id);
if (content) console.log(formatWorktree(content));

const { status, plan } = await worktrees.merge(record.name, { cwd: app });
assert.equal(status, 'merged');
assert.deepEqual(
  plan.changes.map((each) => each.path),
  ['hello.txt'],
);
assert.equal(readFileSync(path.join(app, 'hello.txt'), 'utf8'), 'hello, world\n');
assert.deepEqual(await worktrees.list(app), []);
rmSync(place, { recursive: true });
