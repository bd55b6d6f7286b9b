// Patterns of a .gitignore file decide as git itself does.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { noGit } from '../../test/support/programs.ts';
import { localWorkspace } from '../workspace/index.ts';
import { walkFiles } from './walk.ts';

const names = [
  'a.js',
  'a/b.js',
  'a/b/c.js',
  'a/x/b/c.js',
  'build/x',
  'src/build/x',
  'lib/build',
  'foo bar',
  '#hash',
  '!bang',
  'a[1].txt',
  'x1.log',
  'xa.log',
  'deep/keep/me.txt',
  'deep/drop/me.txt',
  'star*',
  'ünï.txt',
  '.hidden',
];

const files: readonly string[] = [
  'build/',
  'build',
  '/build',
  'a/b',
  'a/**/c.js',
  '**/b/c.js',
  'a/**',
  'a/*',
  '*.js',
  '!a.js\n*.js',
  '*.js\n!a/b.js',
  'a/\n!a/b.js',
  'x[0-9].log',
  'x[!0-9].log',
  'x[a-c1].log',
  'x?.log',
  '\\#hash\n\\!bang',
  'foo bar ',
  'a\\[1\\].txt',
  'star\\*',
  'deep/*\n!deep/keep',
  '*\n!*.js\n!*/',
  '**',
  '/**/me.txt',
  'ü*.txt',
  '.*',
  '# only a remark\n\n',
  'b*/x\r\n*.log\r\n',
];

test('[A73] the files that .gitignore excludes are those that git excludes', { skip: noGit }, async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-ignore-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of names) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), '');
  }
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  const workspace = localWorkspace({ roots: [root] });
  for (const file of files) {
    writeFileSync(path.join(root, '.gitignore'), file);
    const listed = git('ls-files', '-z', '--others', '--exclude-per-directory=.gitignore');
    const ours = await Array.fromAsync(walkFiles(workspace, '.', new AbortController().signal));
    assert.deepEqual(
      ours.toSorted(),
      listed
        .split('\0')
        .filter((name) => name !== '')
        .toSorted(),
      JSON.stringify(file),
    );
  }
});
