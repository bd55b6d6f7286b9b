// Results are reused only while nothing that they depend on has changed, whatever changed it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { noGit } from '../../test/support/programs.ts';
import {
  errorMessage,
  type Json,
  type ToolOutput,
  type Tool,
  type ToolContext,
  type Workspace,
} from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { editFile, glob, listFiles, deferredTools, readFile, runCommand, writeFile } from './index.ts';
import { resultCache } from './result-cache.ts';

type CacheFixture = {
  readonly root: string;
  /** The text of a call's result. */
  readonly call: (tool: string, input: Json, context?: Partial<ToolContext>) => Promise<string>;
  /** The number of file reads and directory listings so far. */
  readonly work: () => number;
};

const inAMinute = (): number => Date.now() + 60_000;

function setup(t: TestContext, files: Readonly<Record<string, string>>, now: () => number = inAMinute): CacheFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-kept-')));
  t.after(() => [root, `${root}-blobs`].forEach((each) => rmSync(each, { recursive: true, force: true })));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  const local = localWorkspace({ roots: [root], blobs: `${root}-blobs` });
  let work = 0;
  const counted: Workspace = {
    ...local,
    read: (...given) => (work++, local.read(...given)),
    list: (...given) => (work++, local.list(...given)),
  };
  const kept = resultCache(counted, { now });
  const tools: readonly Tool[] = [
    ...[readFile, listFiles, glob].map(kept),
    ...[writeFile, editFile, runCommand].map((make) => make(local)),
    ...deferredTools({ workspace: local }),
  ];
  return {
    root,
    work: () => work,
    async call(name, input, context = {}) {
      const tool = tools.find((each) => each.name === name);
      assert.ok(tool, name);
      const given = { signal: new AbortController().signal, ...context } as ToolContext;
      const value = await Promise.resolve(tool.execute(input, given)).catch((error: unknown) => ({
        text: errorMessage(error),
      }));
      return (value as ToolOutput).text;
    },
  };
}

/** Writes as another program would, until the clock of the file system has advanced: changes within one tick cannot be detected. */
function writeOutside(file: string, content: string): void {
  const { ctimeNs } = statSync(file, { bigint: true });
  do writeFileSync(file, content);
  while (statSync(file, { bigint: true }).ctimeNs === ctimeNs);
}

/** Waits in the same way for the clock of a directory whose entries have changed. */
function waitForClock(folder: string): void {
  const { ctimeNs } = statSync(folder, { bigint: true });
  do {
    writeFileSync(path.join(folder, '.step'), '');
    unlinkSync(path.join(folder, '.step'));
  } while (statSync(folder, { bigint: true }).ctimeNs === ctimeNs);
}

const read = { path: 'a.txt' };

test('[P52] a result is returned from the cache for the same input in any key order', async (t) => {
  const { call, work } = setup(t, { 'a.txt': 'one\ntwo\n', 'src/b.ts': '', '.gitignore': 'dist\n' });
  assert.equal(await call('read_file', { path: 'a.txt', offset: 2, limit: 1 }), 'two\n[Lines 2-2 of 2.]');
  const once = work();
  assert.equal(await call('read_file', { limit: 1, offset: 2, path: 'a.txt' }), 'two\n[Lines 2-2 of 2.]');
  assert.equal(work(), once);
  assert.equal(await call('read_file', read), 'one\ntwo');
  assert.equal(work(), once + 1);
  for (const [tool, input] of [
    ['list_files', {}],
    ['glob', { pattern: '**/*.ts' }],
  ] as const) {
    const first = await call(tool, input);
    const sofar = work();
    assert.equal(await call(tool, input), first);
    assert.equal(work(), sofar, tool);
  }
});

test('[P52] a cached read counts as a read, so the file may be edited', async (t) => {
  const { call } = setup(t, { 'a.txt': 'one\n' });
  await call('read_file', read);
  await call('read_file', read);
  assert.equal(await call('edit_file', { ...read, old_string: 'one', new_string: 'two' }), 'Edited a.txt.');
});

test('[P52] a file that was changed a moment ago is not cached: a coarse clock could hide the next change', async (t) => {
  const { call, work } = setup(t, { 'a.txt': 'one\n' }, Date.now);
  await call('read_file', read);
  await call('read_file', read);
  assert.equal(work(), 2);
});

const changes: Readonly<Record<string, (bench: CacheFixture) => unknown>> = {
  write: ({ call }) => call('write_file', { ...read, content: 'two\n' }),
  edit: ({ call }) => call('edit_file', { ...read, old_string: 'one', new_string: 'two' }),
  patch: ({ call }) =>
    call('apply_patch', { paths: ['a.txt'], patch: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n' }),
  command: ({ call }) => call('run_command', { command: 'sleep 0.02; echo two > a.txt' }),
  'another program': ({ root }) => writeOutside(path.join(root, 'a.txt'), 'two\n'),
  'another program that resets the modification time': ({ root }) => {
    const file = path.join(root, 'a.txt');
    const { atime, mtime } = statSync(file);
    writeOutside(file, 'two\n');
    utimesSync(file, atime, mtime);
  },
  'a file that replaces it': ({ root }) => {
    writeFileSync(path.join(root, 'new'), 'two\n');
    renameSync(path.join(root, 'new'), path.join(root, 'a.txt'));
  },
};

for (const [who, change] of Object.entries(changes))
  test(`[P52] a change is detected at once: ${who}`, async (t) => {
    const made = setup(t, { 'a.txt': 'one\n' });
    assert.equal(await made.call('read_file', read), 'one');
    assert.equal(await made.call('read_file', read), 'one');
    assert.equal(made.work(), 1);
    await change(made);
    assert.equal(await made.call('read_file', read), 'two');
  });

test('[P52] a file that was deleted, by a tool or otherwise, is no longer read, listed or found', async (t) => {
  const { call, root } = setup(t, { 'a.txt': 'one\n', 'b.txt': '', 'c/d.txt': '' });
  const look = async (): Promise<readonly string[]> => [
    await call('read_file', read),
    await call('list_files', {}),
    await call('glob', { pattern: '**/*.txt' }),
  ];
  const first = await look();
  assert.deepEqual(await look(), first);
  assert.deepEqual(first, ['one', 'a.txt\nb.txt\nc/', 'a.txt\nb.txt\nc/d.txt']);
  await call('delete_file', read);
  waitForClock(root);
  const second = await look();
  assert.match(second[0] ?? '', /There is no file/);
  assert.deepEqual(second.slice(1), ['b.txt\nc/', 'b.txt\nc/d.txt']);
  unlinkSync(path.join(root, 'c/d.txt'));
  waitForClock(path.join(root, 'c'));
  assert.equal((await look())[2], 'b.txt');
});

test(
  '[P52] after a switch of git branches, files and listings are those of the new branch',
  { skip: noGit },
  async (t) => {
    const { call, root } = setup(t, { 'a.txt': 'one\n' });
    const git = (...args: readonly string[]): void =>
      void execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { stdio: 'pipe' });
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('switch', '-qc', 'other');
    writeFileSync(path.join(root, 'a.txt'), 'two\n');
    writeFileSync(path.join(root, 'b.txt'), '');
    git('add', '.');
    git('commit', '-qm', 'two');
    const look = async (): Promise<string> =>
      `${await call('read_file', read)} ${await call('glob', { pattern: '*.txt' })}`;
    assert.equal(await look(), 'two a.txt\nb.txt');
    assert.equal(await look(), 'two a.txt\nb.txt');
    await call('git_change', { operation: 'switch', name: 'main' });
    waitForClock(root);
    assert.equal(await look(), 'one a.txt');
  },
);

test('[P52] changed ignore rules and changed links are detected', async (t) => {
  const { call, root } = setup(t, { 'a.txt': 'one\n', 'b.txt': 'two\n', '.gitignore': 'x\n' });
  symlinkSync('a.txt', path.join(root, 'link'));
  assert.equal(await call('glob', { pattern: '*.txt' }), 'a.txt\nb.txt');
  assert.equal(await call('read_file', { path: 'link' }), 'one');
  writeOutside(path.join(root, '.gitignore'), 'b*\n');
  unlinkSync(path.join(root, 'link'));
  symlinkSync('b.txt', path.join(root, 'link'));
  assert.equal(await call('glob', { pattern: '*.txt' }), 'a.txt');
  assert.equal(await call('read_file', { path: 'link' }), 'two');
});

test('[P52] at most 128 results are kept, those used last', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`${i}.txt`, `${i}\n`]));
  const { call, work } = setup(t, files);
  for (let i = 0; i < 130; i++) await call('read_file', { path: `${i}.txt` });
  const sofar = work();
  for (let i = 2; i < 130; i++) await call('read_file', { path: `${i}.txt` });
  assert.equal(work(), sofar);
  await call('read_file', { path: '0.txt' });
  assert.equal(work(), sofar + 1);
});

test('[P52] a failed result is not cached, and a workspace that cannot detect changes caches nothing', async (t) => {
  const { call, root, work } = setup(t, { 'a.txt': 'one\n' });
  assert.match(await call('read_file', { ...read, offset: 9 }), /There is no line 9/);
  await call('read_file', { ...read, offset: 9 });
  assert.equal(work(), 2);
  const local = localWorkspace({ roots: [root] });
  let reads = 0;
  const blind = {
    ...local,
    stamp: undefined,
    read: (...given: Parameters<Workspace['read']>) => (reads++, local.read(...given)),
  };
  const tool = resultCache(blind as unknown as Workspace, { now: inAMinute })(readFile);
  for (let i = 0; i < 2; i++) await tool.execute(read, { signal: new AbortController().signal } as ToolContext);
  assert.equal(reads, 2);
});
