// Tests of the files that an approval of a program covers.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { findFilesOfArgv } from './bound-files.ts';

test('a database of a server is not part of its approval, a file that an interpreter or the server runs is', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-bound-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['notes.db', 'server.js', 'rules.json']) writeFileSync(path.join(root, name), name);
  const find = (...argv: string[]): readonly string[] =>
    findFilesOfArgv(argv, { cwd: root, root }).map((file) => path.relative(root, file.path));
  assert.deepEqual(find('/opt/notes', '--db', './notes.db'), []);
  assert.deepEqual(
    find('uvx', 'mcp-server-sqlite', '--db-path=./notes.db').filter((name) => name === 'notes.db'),
    [],
  );
  assert.deepEqual(find('/opt/notes', '--rules', './rules.json'), ['rules.json']);
  for (const argv of [
    ['/usr/bin/node', './notes.db'],
    ['nice', 'python3.12', './notes.db'],
    [path.join(root, 'notes.db'), 'x'],
  ])
    assert.ok(find(...argv).includes('notes.db'), argv.join(' '));
});
