// Patches, deletions and their undo, on real files.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { callTool, type ToolCallResult } from '../../../test/support/tool-call.ts';
import type { FileChange, Json, Workspace } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { deleteFile } from '../delete-file.ts';
import { readFile } from '../read-file.ts';
import { applyPatch } from './apply-patch.ts';

type PatchFixture = {
  readonly root: string;
  readonly workspace: Workspace;
  readonly call: (tool: string, input: Json) => Promise<ToolCallResult>;
  readonly patch: (text: string) => Promise<ToolCallResult>;
  readonly text: (name: string) => string | undefined;
};

const namesIn = (patch: string): readonly string[] => [
  'none',
  ...[...patch.matchAll(/^(?:---|\+\+\+) [ab]\/(.*)$/gm)].map(([, name = '']) => name),
];

/** Creates files that have all been read. */
async function setup(t: TestContext, files: Readonly<Record<string, string>>): Promise<PatchFixture> {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-patch-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const root = path.join(top, 'root');
  mkdirSync(path.join(root, 'sub'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(root, name), content);
  const workspace = localWorkspace({ roots: [root], blobs: path.join(top, 'blobs') });
  const tools = [readFile, deleteFile, applyPatch].map((make) => make(workspace));
  const call = (tool: string, input: Json): Promise<ToolCallResult> => callTool(tools, tool, input);
  for (const name of Object.keys(files)) await call('read_file', { path: name });
  const text = (name: string): string | undefined =>
    existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), 'utf8') : undefined;
  return {
    root,
    workspace,
    call,
    text,
    patch: (words) => call('apply_patch', { paths: namesIn(words), patch: words }),
  };
}

const edit = (name: string, from: string, to: string): string =>
  `--- a/${name}\n+++ b/${name}\n@@ -1,1 +1,1 @@\n-${from}\n+${to}\n`;

test('[P13] a patch edits, creates, moves and deletes files in one call, and each change can be undone', async (t) => {
  const { patch, text, workspace } = await setup(t, {
    'a.txt': 'one\ntwo\nthree\n',
    'b.txt': 'bye\n',
    'old.txt': 'x\ny\n',
  });
  const {
    outcome,
    text: said,
    data,
  } = await patch(`Here it is:
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/old.txt b/sub/new.txt
similarity index 50%
rename from old.txt
rename to sub/new.txt
--- a/old.txt
+++ b/sub/new.txt
@@ -1,2 +1,2 @@
 x
-y
+z
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
--- /dev/null
+++ b/sub/c.txt
@@ -0,0 +1,2 @@
+fresh
+file
`);
  assert.equal(outcome, 'ok', said);
  const now = ['a.txt', 'b.txt', 'old.txt', 'sub/new.txt', 'sub/c.txt'].map(text);
  assert.deepEqual(now, ['one\n2\nthree\n', undefined, undefined, 'x\nz\n', 'fresh\nfile\n']);
  const { changes } = data as unknown as { changes: readonly FileChange[] };
  assert.equal(changes.length, 5);
  for (const change of changes.toReversed()) await workspace.restore(change);
  const then = ['a.txt', 'b.txt', 'old.txt', 'sub/new.txt', 'sub/c.txt'].map(text);
  assert.deepEqual(then, ['one\ntwo\nthree\n', 'bye\n', 'x\ny\n', undefined, undefined]);
});

test('[P13] a patch of one file reports its change as every other tool does', async (t) => {
  const { patch, root } = await setup(t, { 'a.txt': 'one\n' });
  const { data } = await patch(edit('a.txt', 'one', '1'));
  const { path: place, before, after } = data as unknown as FileChange;
  assert.deepEqual([place, typeof before, typeof after], [path.join(root, 'a.txt'), 'string', 'string']);
});

test('[P13] lines with wrong counts or positions are found; line endings are kept', async (t) => {
  const { patch, text } = await setup(t, {
    'a.txt': `${'pad\n'.repeat(9)}one\ntwo\n\nend\n`,
    'crlf.txt': 'a\r\nb\r\n',
  });
  const wrong =
    '--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,7 @@ heading\n one\n-two\n+2\n\n end\n--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1 +1 @@\n a\n-b\n+c';
  const { outcome, text: said } = await patch(wrong);
  assert.equal(outcome, 'ok', said);
  assert.equal(text('a.txt'), `${'pad\n'.repeat(9)}one\n2\n\nend\n`);
  assert.equal(text('crlf.txt'), 'a\r\nc\r\n');
});

test('[P13] attacks 23 and 37: one file that cannot be changed leaves all others unchanged', async (t) => {
  const { patch, text, root } = await setup(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' });
  writeFileSync(path.join(root, 'unread.txt'), 'x\n');
  writeFileSync(path.join(root, 'b.txt'), 'changed meanwhile\n');
  mkdirSync(path.join(root, '../elsewhere'));
  writeFileSync(path.join(root, '../elsewhere/f.txt'), 'far\n');
  symlinkSync('../elsewhere', path.join(root, 'link'));
  const first = edit('a.txt', 'one', '1');
  for (const [second, why] of [
    [edit('b.txt', 'two', '2'), /do not fit b\.txt/],
    [edit('b.txt', 'changed meanwhile', '2'), /changed since it was read/],
    [edit('unread.txt', 'x', 'y'), /has not been read/],
    [edit('none.txt', 'x', 'y'), /no file or folder/],
    [edit('../elsewhere/f.txt', 'far', 'near'), /outside the workspace/],
    [edit('link/f.txt', 'far', 'near'), /outside the workspace/],
    ['--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+evil\n', /protected/],
    ['--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+over\n', /changed since/],
    ['--- /dev/null\n+++ b/unread.txt\n@@ -0,0 +1 @@\n+over\n', /has not been read/],
    [edit('a.txt', '1', '2'), /a\.txt is named twice/],
    ['--- a/b.txt\n+++ /dev/null\n@@ -5 +0,0 @@\n-other\n', /do not fit/],
  ] as const) {
    const { outcome, text: said } = await patch(first + second);
    assert.equal(outcome, 'failed', second);
    assert.match(said, why);
    assert.equal(text('a.txt'), 'one\n', `${second}\n${said}`);
  }
  assert.equal((await patch(first)).outcome, 'ok', 'a restored file can be changed again');
  for (const words of [
    'no patch',
    '@@ -1 +1 @@\n-one\n+1\n',
    '--- a/a.txt\n+++ b/a.txt\n',
    '*** Begin Patch\n*** End Patch',
  ])
    assert.match((await patch(words)).text, /Nothing was changed/, words);
});

test('[P13] a patch changes no file that its call does not name, because gates decide by these names', async (t) => {
  const { call, text } = await setup(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const patch = edit('a.txt', 'one', '1') + edit('b.txt', 'two', '2');
  assert.match((await call('apply_patch', { paths: ['a.txt'], patch })).text, /b\.txt is not among the paths/);
  assert.equal(text('a.txt'), 'one\n');
  assert.equal((await call('apply_patch', { paths: ['a.txt', 'b.txt'], patch })).outcome, 'ok');
});

test('[P14] a deleted file can be restored from its result, also by the model', async (t) => {
  const { call, text, workspace } = await setup(t, { 'a.txt': 'one\n' });
  const gone = await call('delete_file', { path: 'a.txt' });
  assert.equal(text('a.txt'), undefined);
  const hash = /restore ([0-9a-f]{64})\.$/.exec(gone.text)?.[1] ?? '';
  assert.match((gone.data as { diff: string }).diff, /-one/);
  assert.equal((await call('delete_file', { path: 'a.txt', restore: hash })).text, 'Put a.txt back.');
  assert.equal(text('a.txt'), 'one\n');
  assert.match((await call('delete_file', { path: 'a.txt', restore: hash })).text, /was changed since/);
  const again = await call('delete_file', { path: 'a.txt' });
  await workspace.restore(again.data as unknown as FileChange);
  assert.equal(text('a.txt'), 'one\n', 'an undo does it too');
});

test('[P14] attacks 21 and 28: protected files cannot be deleted either', async (t) => {
  const { call, root, text } = await setup(t, { 'a.txt': 'one\n', 'b.bin': '\0' });
  mkdirSync(path.join(root, '.git'));
  writeFileSync(path.join(root, '.git/config'), 'x');
  for (const [name, why] of [
    ['.git/config', /protected/],
    ['../../etc/passwd', /outside/],
    ['sub', /is a folder/],
    ['none', /no file or folder/],
  ] as const)
    assert.match((await call('delete_file', { path: name })).text, why);
  writeFileSync(path.join(root, 'a.txt'), 'newer\n');
  assert.match((await call('delete_file', { path: 'a.txt' })).text, /changed since it was read/);
  assert.equal(text('a.txt'), 'newer\n');
  assert.equal((await call('delete_file', { path: 'b.bin' })).outcome, 'ok', 'a binary file can be deleted too');
  const forgetful = [deleteFile(localWorkspace({ roots: [root] }))];
  assert.match((await callTool(forgetful, 'delete_file', { path: 'a.txt' })).text, /could not be restored/);
  assert.equal(text('a.txt'), 'newer\n');
});
