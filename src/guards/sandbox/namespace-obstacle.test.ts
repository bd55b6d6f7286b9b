// Why user namespaces are forbidden, and which command allows them: by the setting of the kernel that forbids them, or by the container.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { chooseSandbox } from './choose.ts';
import { findNamespaceObstacle, formatInstallCommand } from './namespace-obstacle.ts';

const refused = 'unshare: unshare failed: Operation not permitted';

const cases = [
  ['/proc/sys/kernel/unprivileged_userns_clone', '0\n', 'sudo sysctl -w kernel.unprivileged_userns_clone=1'],
  ['/proc/sys/user/max_user_namespaces', '0\n', 'sudo sysctl -w user.max_user_namespaces=15000'],
  [
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    '1\n',
    'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ],
  ['/.dockerenv', '', '--security-opt seccomp=unconfined'],
  ['/run/.containerenv', '', 'podman: unmask=ALL'],
] as const;

for (const [file, content, command] of cases)
  test(`where ${file} forbids user namespaces, the remedy names its command`, () => {
    const read = (name: string): string | undefined => (name === file ? content : undefined);
    const found = findNamespaceObstacle(refused, read, false);
    assert.ok(found?.remedy.includes(command), found?.remedy);
  });

test('a setting that binds only other users, an allowed one and another failure are no obstacle', () => {
  const read = (name: string): string | undefined => (name.endsWith('userns_clone') ? '0' : undefined);
  assert.ok(findNamespaceObstacle(refused, read, false));
  assert.equal(findNamespaceObstacle(refused, read, true), undefined);
  assert.equal(
    findNamespaceObstacle('unshare: unknown option', (name) => (name === '/.dockerenv' ? '' : undefined), false),
    undefined,
  );
});

function createFolder(t: test.TestContext): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-obstacle-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const names = ['unshare', 'setpriv', 'setsid', 'mount', 'umount', 'pivot_root', 'mkdir', 'ln', 'cp'];

test('the command that installs a program is that of the package manager', (t) => {
  const folder = createFolder(t);
  assert.equal(formatInstallCommand('bubblewrap', folder), 'apt-get install bubblewrap');
  writeFileSync(path.join(folder, 'apk'), '#!/bin/sh\n');
  chmodSync(path.join(folder, 'apk'), 0o755);
  assert.equal(formatInstallCommand('bubblewrap', folder), 'apk add bubblewrap');
});

test('programs of BusyBox are refused with a sentence, and those that fail with their own message', async (t) => {
  if (process.platform !== 'linux') return t.skip('namespaces are for Linux');
  const [folder, root] = [createFolder(t), createFolder(t)];
  const find = async (): Promise<string> =>
    (await chooseSandbox({ mode: 'util-linux', roots: [root], home: root, path: folder })).description;
  writeFileSync(path.join(folder, 'busybox'), `#!/bin/sh\necho "${refused}" >&2\nexit 1\n`);
  chmodSync(path.join(folder, 'busybox'), 0o755);
  for (const name of names) symlinkSync('busybox', path.join(folder, name));
  assert.match(
    await find(),
    /: unshare is that of BusyBox, which lacks options that a sandbox needs\. Install bubblewrap/,
  );
  const other = createFolder(t);
  for (const name of names) {
    writeFileSync(path.join(other, name), `#!/bin/sh\necho "${refused}" >&2\nexit 1\n`);
    chmodSync(path.join(other, name), 0o755);
  }
  const { name, description } = await chooseSandbox({ mode: 'util-linux', roots: [root], home: root, path: other });
  assert.equal(name, 'refused');
  assert.match(description, /Operation not permitted|the kernel forbids user namespaces/);
});
