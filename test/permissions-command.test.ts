// `fairlead permissions` in the real program: lists and revokes what was allowed for projects, from an empty home on.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { answerPrompt, createProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

test('[A75] in an empty home there are no permissions, and listing creates no file', async (t) => {
  const program = await createProgram(t);
  const listed = await program.run(['permissions']);
  assert.deepEqual([listed.code, listed.out.trim()], [0, 'No permissions granted yet.']);
  assert.equal((await program.call(['permissions', 'list', '--json'])).out.trim(), '[]');
  const revoked = await program.call(['permissions', 'revoke', '1']);
  assert.equal(revoked.code, 1);
  assert.match(revoked.err, /There is no permission "1"/);
  assert.equal((await program.call(['permissions', 'grant', 'all'])).code, 2);
  assert.ok(!existsSync(program.config('permissions.yaml')));
});

test(
  '[A75] what was allowed in a project is listed there, covers a new session, and is asked about again once it is revoked',
  { skip: noTerminal() },
  async (t) => {
    let file = 'a.txt';
    const program = await createProgram(t, ({ results }) =>
      results.length === 0 ? calls('write_file', { path: file, content: 'made\n' }) : says('done'),
    );
    await program.seedModels('qwen3');
    const terminal = await program.open(['--one-shot', '--no-sandbox', '--prompt', 'go']);
    await answerPrompt(terminal, /4\. Yes, and allow edits [^]*in this project, kept[^]*\[y\/N\/a\]:/, '4', 'Enter');
    await terminal.waitFor(/left with/);
    assert.equal(statSync(program.config('permissions.yaml')).mode & 0o777, 0o600);
    const listed = await program.call(['permissions', 'list']);
    assert.match(
      listed.out,
      /^1\. edits and new files in this folder {2}\(in \/.*\)\nThey are in .*permissions\.yaml\.\n$/,
    );
    file = 'b.txt';
    assert.equal((await program.call(['--one-shot', '--no-sandbox', '--prompt', 'go'])).code, 0);
    assert.equal(readFileSync(path.join(program.cwd, 'b.txt'), 'utf8'), 'made\n');
    // Another folder has no permissions; --all lists those of all projects.
    const other = path.join(program.home, 'other');
    mkdirSync(other);
    assert.equal((await program.call(['permissions'], { cwd: other })).out.trim(), 'No permissions granted yet.');
    assert.match((await program.call(['permissions', '--all'], { cwd: other })).out, /^1\. edits/);
    const revoked = await program.call(['permissions', 'revoke', '1']);
    assert.deepEqual([revoked.code, revoked.out.trim()], [0, 'Revoked: edits and new files in this folder']);
    file = 'c.txt';
    assert.equal((await program.call(['--one-shot', '--no-sandbox', '--prompt', 'go'])).code, 5);
    assert.ok(!existsSync(path.join(program.cwd, 'c.txt')));
  },
);

test('[A75] a permissions file that cannot be understood grants nothing, and is named and not overwritten', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('write_file', { path: 'a.txt', content: '' }) : says('done'),
  );
  await program.seedModels('qwen3');
  mkdirSync(program.config(), { recursive: true });
  const damaged = `projects:\n  ${JSON.stringify(program.cwd)}:\n    - everything: true\n`;
  writeFileSync(program.config('permissions.yaml'), damaged);
  const listed = await program.call(['permissions']);
  assert.equal(listed.code, 1);
  assert.match(listed.err, /permissions\.yaml cannot be used: an entry must have/);
  assert.equal((await program.call(['permissions', 'revoke', 'all'])).code, 1);
  assert.equal((await program.call(['--one-shot', '--no-sandbox', '--prompt', 'go'])).code, 5);
  assert.equal(readFileSync(program.config('permissions.yaml'), 'utf8'), damaged);
});
