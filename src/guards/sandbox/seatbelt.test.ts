// The Seatbelt profile for macOS: what it allows, in which order, and that no directory name can add a rule. It is not run here.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { localWorkspace } from '../../workspace/index.ts';
import { withSandbox, type SandboxPaths } from './sandbox.ts';
import { seatbeltProfile, quoteProfileString, seatbeltSandbox, seatbeltUnavailableReason } from './seatbelt.ts';

function setup(t: TestContext, name = 'root'): SandboxPaths & { readonly root: string } {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-seatbelt-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const [root, home] = [path.join(top, name), path.join(top, 'home')];
  for (const each of [path.join(root, '.git/hooks'), home]) mkdirSync(each, { recursive: true });
  return { root, roots: [root], home, path: '/usr/bin' };
}

test('the profile denies everything except the directory and a read-only system, and denials come after allowances', (t) => {
  const confines = setup(t);
  const lines = seatbeltProfile(confines).split('\n');
  assert.deepEqual(lines.slice(0, 2), ['(version 1)', '(deny default)']);
  assert.equal(lines.at(-1), '(deny network*)');
  assert.ok(!lines.some((line) => /allow (network|mach|ipc|iokit)/.test(line)));
  const at = (part: string): number => lines.findIndex((line) => line.includes(part));
  assert.equal(lines[at('allow file-write*')], `(allow file-write* (subpath "${confines.root}"))`);
  assert.ok(at('deny file-write*') > at('allow file-write*'));
  for (const held of ['.git/hooks', '.git/config', '.mcp.json', '.env', '.fairlead'])
    assert.ok(lines[at('deny file-write*')]?.includes(`(subpath "${confines.root}/${held}")`), held);
  assert.ok(at('deny file-read* (subpath "/private/etc/master.passwd")') > at('allow file-read* (subpath "/usr")'));
  assert.ok(!seatbeltProfile(confines).includes(`(subpath "${confines.home}")`));
});

test('keys in a home directory that is the workspace are neither readable nor writable', (t) => {
  const { root, home, ...rest } = setup(t);
  mkdirSync(path.join(home, '.ssh'));
  const profile = seatbeltProfile({ ...rest, home, roots: [home] });
  assert.match(profile, new RegExp(`\\(deny file-read\\* file-write\\* \\(subpath "${home}/\\.ssh"\\)\\)`));
  assert.ok(!profile.includes(root));
});

test('a directory name cannot add a rule', (t) => {
  const evil = 'a") (allow network*) (allow file-write* (subpath "';
  const { root, ...confines } = setup(t, evil);
  const profile = seatbeltProfile({ ...confines, roots: [root] });
  assert.ok(profile.includes(`(allow file-write* (subpath "${root.replaceAll('"', '\\"')}"))`));
  assert.equal(quoteProfileString('a\\b"c'), '"a\\\\b\\"c"');
  for (const bad of ['a\nb', 'a\0b', 'a\u007fb'])
    assert.throws(() => quoteProfileString(bad), { code: 'sandbox/unusable' });
});

test('Seatbelt is not used if hosts are allowed or if it is missing, and the reason is reported', (t) => {
  const confines = setup(t);
  assert.equal(seatbeltUnavailableReason(confines, process.execPath), undefined);
  assert.match(seatbeltUnavailableReason(confines, '/nowhere/sandbox-exec') ?? '', /is missing/);
  const egress = { hosts: ['example.com'], isPublic: () => true };
  assert.match(seatbeltUnavailableReason({ ...confines, egress }, process.execPath) ?? '', /may reach some hosts/);
});

test('sandbox-exec gets the profile as one argument, and the command unchanged', async (t) => {
  const confines = setup(t);
  const stand = path.join(confines.home, 'sandbox-exec');
  writeFileSync(stand, '#!/bin/sh\n[ "$1" = -p ] || exit 9\nprintf "%s\\n" "$2" | head -1\nshift 2\nexec "$@"\n');
  chmodSync(stand, 0o755);
  const workspace = withSandbox(localWorkspace({ roots: [confines.root] }), seatbeltSandbox(confines, stand));
  const { text, code } = await workspace.exec('echo "a  b"; pwd; echo "$HOME"; [ -w "$TMPDIR" ] && echo "$TMPDIR"', {
    timeoutMs: 20_000,
  });
  const [, temp = ''] = /(\S*fairlead-sandbox-\w+)\n$/.exec(text) ?? [];
  assert.equal(text, `(version 1)\na  b\n${confines.root}\n${confines.home}\n${temp}\n`);
  assert.ok(temp !== '' && !existsSync(temp), 'its temporary directory is removed');
  assert.equal(code, 0);
});
