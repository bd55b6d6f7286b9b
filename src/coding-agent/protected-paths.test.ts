// Tests of protected paths: a model never reads or writes the store of its fleet, at any location.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readSettings } from './settings/index.ts';
import { getProtectedPaths, getSealedFiles } from './protected-paths.ts';

test('[A112] a fleet store in the working directory is hidden, protected and unreadable with all its files', (t) => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-confined-'));
  t.after(() => rmSync(cwd, { recursive: true }));
  const file = path.join(cwd, 'fleet.sqlite');
  for (const where of [file, `sqlite:${file}`]) {
    const settings = readSettings({ cwd, env: { HOME: cwd, HARNESS_STORE: where } });
    for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-live`, `${file}-live-wal`])
      assert.deepEqual(
        [getProtectedPaths(settings).includes(each), getSealedFiles(settings).includes(each)],
        [true, true],
        each,
      );
  }
  const far = readSettings({ cwd, env: { HOME: cwd, HARNESS_STORE: 'postgres://db/fleet' } });
  assert.equal(getProtectedPaths(far).length, 6);
});

test('[J78] the directories of the other profile are protected too, and its tokens are sealed', () => {
  const env = { HOME: '/people/ada' };
  const [fairlead, jayjader] = [
    readSettings({ cwd: '/', env, platform: 'linux' }),
    readSettings({ cwd: '/', env, platform: 'linux', profile: 'jayjader' }),
  ];
  assert.notEqual(fairlead.dirs.state, jayjader.dirs.state);
  for (const [own, other] of [
    [fairlead, jayjader],
    [jayjader, fairlead],
  ] as const) {
    for (const dir of [other.dirs.state, other.dirs.data]) assert.ok(getProtectedPaths(own).includes(dir), dir);
    for (const name of ['server-token', 'mcp-token', 'mcp-logins.json'])
      assert.ok(getSealedFiles(own).includes(`${other.dirs.state}/${name}`), name);
  }
});
