// The local workspace: no access outside the roots, no overwrite of changed files, and every change can be undone.
import assert from 'node:assert/strict';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import { reportAttack } from '../../test/support/attack-report.ts';
import type { Workspace } from '../core/index.ts';
import { localWorkspace, type LocalWorkspaceOptions } from './index.ts';

type WorkspaceFixture = {
  readonly root: string;
  readonly outside: string;
  readonly open: (options?: Partial<LocalWorkspaceOptions>) => Workspace;
};

/** A root with a file in it, and next to it files that must not be accessible. */
function setup(t: test.TestContext): WorkspaceFixture {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-ws-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const root = path.join(home, 'app');
  const outside = path.join(home, 'app-evil');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(path.join(root, 'in.txt'), 'inside');
  writeFileSync(path.join(outside, 'secret.txt'), 'outside');
  return { root, outside, open: (options) => localWorkspace({ roots: [root], ...options }) };
}

const workspaceErrorCode = (code: string): { readonly code: string } => ({ code: `workspace/${code}` });

test('[A74] attack 21: no spelling of a path leads out of the roots', async (t) => {
  const { root, outside, open } = setup(t);
  const workspace = open();
  mkdirSync(path.join(root, 'a'));
  const ways = [
    '../app-evil/secret.txt',
    'a/../../app-evil/secret.txt',
    path.join(outside, 'secret.txt'),
    '/etc/passwd',
    '/proc/self/environ',
    `${root}/../app-evil/secret.txt`,
    '..',
    '/',
  ];
  for (const way of ways) {
    await assert.rejects(workspace.read(way), workspaceErrorCode('outside'), way);
    await assert.rejects(workspace.write(way, 'x'), workspaceErrorCode('outside'), way);
    await assert.rejects(workspace.list(way), workspaceErrorCode('outside'), way);
    await assert.rejects(workspace.exec('true', { cwd: way }), workspaceErrorCode('outside'), way);
  }
  for (const way of ['%2e%2e/app-evil/secret.txt', '..\\app-evil\\secret.txt', '~/x'])
    await assert.rejects(workspace.read(way), workspaceErrorCode('not-found'), way);
  assert.equal(readFileSync(path.join(outside, 'secret.txt'), 'utf8'), 'outside');
});

test('[A74] attacks 21, 36 and 75: whatever a path contains, a write goes to a file inside the root or nowhere, byte for byte', async (t) => {
  const { root, outside, open } = setup(t);
  // Deep enough that a path out of a broken workspace would still be in the test's own directory.
  const deep = path.join(root, '1/2/3/4/5/6');
  mkdirSync(deep, { recursive: true });
  symlinkSync(outside, path.join(deep, 'link'));
  const workspace = open({ roots: [deep] });
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '', 'link', '~', '\\', '-rf', '\u202e', '%2e%2e', 'a\nb', '\0', '*'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const paths = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `./${pieces.join('/')}`);
  const writes = fc.asyncProperty(paths, fc.string({ unit: 'binary' }), async (given, content) => {
    const change = await workspace.write(given, content).catch(() => undefined);
    if (!change) return;
    assert.ok(change.path.startsWith(`${deep}/`), given);
    assert.equal(readFileSync(change.path, 'utf8'), content);
  });
  await fc.assert(writes, { numRuns: 300 });
  assert.deepEqual(readdirSync(root).toSorted(), ['1', 'in.txt']);
  assert.deepEqual(readdirSync(path.dirname(deep)), ['6']);
  assert.deepEqual(readdirSync(outside), ['secret.txt']);
});

test('[A74] attack 22: a directory whose name has a root as its prefix is not inside it', async (t) => {
  const { outside, open } = setup(t);
  await assert.rejects(open().read(path.join(outside, 'secret.txt')), workspaceErrorCode('outside'));
  assert.throws(() => open({ cwd: outside }), workspaceErrorCode('outside'));
});

test('[A74] attacks 23 and 25: a link is checked by its target, at any position in the path', async (t) => {
  const { root, outside, open } = setup(t);
  const workspace = open();
  symlinkSync(path.join(outside, 'secret.txt'), path.join(root, 'file-link'));
  symlinkSync(outside, path.join(root, 'folder-link'));
  symlinkSync(path.join(outside, 'not-yet.txt'), path.join(root, 'dangling'));
  symlinkSync('circle', path.join(root, 'circle'));
  symlinkSync('in.txt', path.join(root, 'good-link'));
  for (const way of ['file-link', 'folder-link/secret.txt', 'folder-link/new/deep.txt'])
    await assert.rejects(workspace.write(way, 'x'), workspaceErrorCode('outside'), way);
  await assert.rejects(workspace.read('file-link'), workspaceErrorCode('outside'));
  await assert.rejects(workspace.list('folder-link'), workspaceErrorCode('outside'));
  await assert.rejects(workspace.write('dangling', 'x'), workspaceErrorCode('bad-path'));
  await assert.rejects(workspace.read('circle'), workspaceErrorCode('bad-path'));
  const { path: found } = await workspace.read('good-link');
  assert.equal(found, path.join(root, 'in.txt'));
  await workspace.write('good-link', 'through the link');
  assert.equal(readFileSync(path.join(root, 'in.txt'), 'utf8'), 'through the link');
  assert.deepEqual(readdirSync(outside), ['secret.txt']);
});

test('[A74] attacks 24 and 26: a directory that is replaced by a link between check and use leads nowhere, 10,000 times', async (t) => {
  const { root, outside, open } = setup(t);
  const workspace = open();
  mkdirSync(path.join(root, 'door'));
  writeFileSync(path.join(root, 'door', 'secret.txt'), 'inside');
  const swapper = path.join(root, '..', 'swapper.mjs');
  writeFileSync(
    swapper,
    `import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
     process.chdir(${JSON.stringify(root)});
     process.send('ready');
     const stay = () => { for (const end = performance.now() + Math.random() / 5; performance.now() < end; ); };
     for (;;) {
       renameSync('door', 'parked');
       symlinkSync(${JSON.stringify(outside)}, 'door');
       stay();
       unlinkSync('door');
       renameSync('parked', 'door');
       stay();
     }`,
  );
  const child = fork(swapper, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const over = once(child, 'exit');
  await once(child, 'message');
  const seen = { inside: 0, outside: 0, refused: 0 };
  for (let i = 0; i < 10_000; i++) {
    const text = await workspace.read('door/secret.txt').then(
      (file) => file.text,
      () => undefined,
    );
    if (text === 'inside') seen.inside++;
    else if (text === undefined) seen.refused++;
    else seen.outside++;
  }
  for (let i = 0; i < 300; i++) await workspace.write(`door/new-${i}.txt`, 'x').catch(() => {});
  child.kill('SIGKILL');
  await over;
  const escapes = seen.outside + readdirSync(outside).length - 1;
  for (const attack of [24, 26])
    reportAttack(
      t,
      attack,
      [escapes === 0 ? 'blocked' : 'done'],
      `${escapes} escapes of 10,000, ${seen.refused} refused`,
    );
  assert.equal(seen.outside, 0);
  assert.ok(seen.inside > 0 && seen.refused > 0, JSON.stringify(seen));
  assert.deepEqual(readdirSync(outside), ['secret.txt']);
});

test('[A74] attack 27: a file with a second hard link is read but not written', async (t) => {
  const { root, outside, open } = setup(t);
  const workspace = open();
  linkSync(path.join(outside, 'secret.txt'), path.join(root, 'twin'));
  assert.equal((await workspace.read('twin')).text, 'outside');
  await assert.rejects(workspace.write('twin', 'x'), workspaceErrorCode('linked'));
  assert.equal(readFileSync(path.join(outside, 'secret.txt'), 'utf8'), 'outside');
});

test('attack 29: a file with logins cannot be read in any spelling of its path', async (t) => {
  const { root, open } = setup(t);
  symlinkSync(root, path.join(root, '..', 'home'));
  writeFileSync(path.join(root, 'logins.json'), '{"access":"x"}');
  symlinkSync('logins.json', path.join(root, 'alias'));
  const workspace = open({ denyRead: [path.join(root, '..', 'home', 'logins.json')] });
  for (const name of ['logins.json', './sub/../logins.json', 'alias', path.join(root, 'logins.json')])
    await assert.rejects(workspace.read(name), workspaceErrorCode('protected'), name);
  assert.equal((await workspace.read('in.txt')).text, 'inside');
});

test('attacks 28, 30 and 50: files that other programs execute are never written, in any spelling', async (t) => {
  const { root, open } = setup(t);
  symlinkSync(root, path.join(root, '..', 'home'));
  const workspace = open({ protect: ['.fairlead', path.join(root, '..', 'home', 'config')] });
  mkdirSync(path.join(root, '.git', 'hooks'), { recursive: true });
  const names = [
    '.git/hooks/pre-commit',
    '.git',
    '.GIT/config',
    '.gitmodules',
    'sub/.git/config',
    '.git./x',
    '.git /x',
  ];
  for (const name of [...names, '.g\u200cit/config', '．git/config', '.fairlead/settings.json', '.FAIRLEAD/x'])
    await assert.rejects(workspace.write(name, 'x'), workspaceErrorCode('protected'), name);
  symlinkSync('.git', path.join(root, 'git-link'));
  for (const name of ['config', 'config/settings.json', 'git-link/config'])
    await assert.rejects(workspace.write(name, 'x'), workspaceErrorCode('protected'), name);
  await workspace.write('src/config', 'x');
  await workspace.write('.gitignore', 'dist\n');
  await workspace.write('.github/workflows/x.yml', 'on: push\n');
});

test('attack 18: an invalid path is refused in one sentence', async (t) => {
  const workspace = setup(t).open();
  for (const way of ['in.txt\0.png', '', '\ud800', 'x'.repeat(5000)])
    await assert.rejects(workspace.read(way), workspaceErrorCode('bad-path'));
});

test('attack 33: pipes, devices and directories are not read as files, and huge files and directories are bounded', async (t) => {
  const { root, open } = setup(t);
  const workspace = open();
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  await assert.rejects(workspace.read('pipe'), workspaceErrorCode('not-a-file'));
  await assert.rejects(workspace.write('pipe', 'x'), workspaceErrorCode('not-a-file'));
  await assert.rejects(workspace.read('.'), workspaceErrorCode('not-a-file'));
  writeFileSync(path.join(root, 'sparse'), '');
  truncateSync(path.join(root, 'sparse'), 2 ** 40);
  await assert.rejects(workspace.read('sparse'), workspaceErrorCode('too-large'));
  execFileSync('sh', ['-c', 'mkdir many && cd many && seq 1 10005 | xargs touch'], { cwd: root });
  const { entries, more } = await workspace.list('many');
  assert.deepEqual([entries.length, more], [10_000, true]);
});

test('attack 37: [fault 38] a file is changed only if its current content was read', async (t) => {
  const { root, open } = setup(t);
  const workspace = open();
  await assert.rejects(workspace.write('in.txt', 'x'), workspaceErrorCode('not-read'));
  await workspace.read('in.txt', { unseen: true });
  await assert.rejects(workspace.write('in.txt', 'x'), { message: /read it first/ });
  const { hash } = await workspace.read('in.txt');
  writeFileSync(path.join(root, 'in.txt'), 'by someone else');
  await assert.rejects(workspace.write('in.txt', 'x'), { ...workspaceErrorCode('changed'), message: /read it again/ });
  await workspace.read('in.txt');
  await assert.rejects(workspace.write('in.txt', 'x', { over: hash }), workspaceErrorCode('changed'));
  assert.equal(readFileSync(path.join(root, 'in.txt'), 'utf8'), 'by someone else');
  await workspace.write('in.txt', 'one');
  await workspace.write('in.txt', 'two');
  assert.equal(readFileSync(path.join(root, 'in.txt'), 'utf8'), 'two');
});

test('a write is atomic: the mode stays, directories are created, no temporary file is left', async (t) => {
  const { root, open } = setup(t);
  const workspace = open();
  chmodSync(path.join(root, 'in.txt'), 0o751);
  await workspace.read('in.txt');
  const change = await workspace.write('in.txt', 'new');
  assert.equal(statSync(path.join(root, 'in.txt')).mode & 0o7777, 0o751);
  const made = await workspace.write('a/b/c.bin', new Uint8Array([0, 255]));
  assert.deepEqual([made.before, made.path], [null, path.join(root, 'a/b/c.bin')]);
  const { bytes, text, hash } = await workspace.read('a/b/c.bin');
  assert.deepEqual([[...bytes], text, hash], [[0, 255], undefined, made.after]);
  assert.notEqual(change.before, change.after);
  await assert.rejects(workspace.write('half.txt', 'a\ud83d'), workspaceErrorCode('bad-content'));
  assert.deepEqual(readdirSync(root).toSorted(), ['a', 'in.txt']);
  chmodSync(path.join(root, 'in.txt'), 0o444);
  await assert.rejects(workspace.write('in.txt', 'x'), workspaceErrorCode('no-access'));
});

test('of many concurrent writers each sees the result of the previous one, and a new file is created once', async (t) => {
  const { root, open } = setup(t);
  const [one, two] = [open(), open()];
  const made = await Promise.allSettled([one.write('new.txt', 'one'), two.write('new.txt', 'two')]);
  assert.equal(made.filter((each) => each.status === 'fulfilled').length, 1);
  await one.read('in.txt');
  await Promise.all(Array.from({ length: 20 }, (_, i) => one.write('in.txt', `write ${i}`)));
  assert.equal(readFileSync(path.join(root, 'in.txt'), 'utf8'), 'write 19');
});

test('a change is undone exactly once: content, absence, and not over a later change', async (t) => {
  const { root, open } = setup(t);
  const blobs = path.join(root, '..', 'blobs');
  const workspace = open({ blobs });
  await workspace.read('in.txt');
  const change = await workspace.write('in.txt', 'changed');
  const made = await workspace.write('made.txt', 'made');
  await workspace.restore(change);
  await workspace.restore(made);
  assert.equal(readFileSync(path.join(root, 'in.txt'), 'utf8'), 'inside');
  assert.ok(!existsSync(path.join(root, 'made.txt')));
  await assert.rejects(workspace.restore(change), workspaceErrorCode('changed'));
  await assert.rejects(workspace.write('in.txt', 'x'), workspaceErrorCode('not-read'));
  await assert.rejects(workspace.restore({ ...change, path: '../app-evil/secret.txt' }), workspaceErrorCode('outside'));
  assert.equal(statSync(blobs).mode & 0o777, 0o700);
  writeFileSync(path.join(blobs, change.before ?? ''), 'forged');
  writeFileSync(path.join(root, 'in.txt'), 'changed');
  await assert.rejects(workspace.restore(change), workspaceErrorCode('no-blob'));
  await assert.rejects(open().restore(change), workspaceErrorCode('no-blob'));
});

test('attack 85: no argument of a call opens another directory', async (t) => {
  const { outside, open } = setup(t);
  await assert.rejects(open().exec('pwd', { cwd: outside }), workspaceErrorCode('outside'));
  assert.throws(() => open({ roots: [path.join(outside, 'secret.txt')] }), workspaceErrorCode('not-a-folder'));
});
