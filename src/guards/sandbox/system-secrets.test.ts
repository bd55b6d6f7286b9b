// Files of the system that other users may not read, as root sees them inside a sandbox.
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { assertAttack } from '../../../test/support/attack-report.ts';
import { noNamespaceSandbox } from '../../../test/support/sandbox.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { withSandbox } from './sandbox.ts';
import { systemSecretPaths } from './system-secrets.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-secrets-')));
test.after(() => rmSync(root, { recursive: true, force: true }));
const sandbox = await chooseSandbox({ roots: [root], home: homedir(), path: process.env['PATH'] ?? '' });
const skip =
  (await noNamespaceSandbox()) || (process.getuid?.() !== 0 && 'only root can read files that others may not');

test(
  '[attack 106] root inside a sandbox is another user, reads no private file of the system, and works as usual',
  { skip },
  async (t) => {
    const inside = withSandbox(localWorkspace({ roots: [root] }), sandbox);
    const privateFiles = readdirSync('/etc', { recursive: true, encoding: 'utf8' })
      .map((name) => path.join('/etc', name))
      .filter((at) => {
        const found = statSync(at, { throwIfNoEntry: false });
        return found?.isFile() && (found.mode & 0o004) === 0 && found.size > 0;
      });
    assert.ok(privateFiles.length > 0, 'there is a private file to read');
    const { text } = await inside.exec(['cat', '--', ...privateFiles]);
    const contents = text.split('\n').filter((line) => line !== '' && !line.startsWith('cat: '));
    const { text: ids } = await inside.exec('id -u; id -g; touch made && ls -ln made | cut -d" " -f3; whoami');
    assertAttack(
      t,
      106,
      [contents.length === 0 && ids === '65534\n65534\n65534\nnobody\n' ? 'blocked' : 'done'],
      `${privateFiles.length} files`,
    );
    assert.equal(statSync(path.join(root, 'made')).uid, 0, 'outside, the files belong to the user');
    const archive =
      'mkdir d && echo x > d/x && tar cf a.tar d && rm -r d && tar xf a.tar && cat d/x && cat /etc/hosts >/dev/null && echo fine';
    assert.equal((await inside.exec(archive)).text, 'x\nfine\n');
  },
);

test('[attack 106] every file without a read permission for others is covered, and a folder with many as a whole', (t) => {
  const place = path.join(root, 'etc');
  t.after(() => rmSync(place, { recursive: true, force: true }));
  for (const name of ['private/keys', 'open', 'many', 'tools/bin'])
    mkdirSync(path.join(place, name), { recursive: true });
  const put = (name: string, mode: number): void => writeFileSync(path.join(place, name), 'x', { mode });
  put('private/keys/a', 0o600);
  put('open/secret.pem', 0o640);
  put('open/public', 0o644);
  put('tools/key\nof two lines', 0o600);
  for (let at = 0; at < 70; at++) put(`many/${at}`, 0o600);
  symlinkSync('open/secret.pem', path.join(place, 'link'));
  chmodSync(path.join(place, 'private'), 0o700);
  chmodSync(path.join(place, 'tools'), 0o700);
  symlinkSync('etc', path.join(root, 'etc-link'));
  t.after(() => rmSync(path.join(root, 'etc-link')));
  // With the program `find`, without it, and with one that fails.
  for (const findProgram of [undefined, path.join(root, 'absent'), '/bin/false'])
    for (const folder of [place, path.join(root, 'etc-link')]) {
      const found = systemSecretPaths(path.join(folder, 'tools/bin'), true, [folder], findProgram);
      assert.deepEqual(
        new Map(found.map(({ at, file }) => [path.relative(folder, at), file])),
        new Map([
          ['many', false],
          ['open/secret.pem', true],
          ['private', false],
          ['tools/key\nof two lines', true],
        ]),
      );
    }
});

test('[attack 106] the program find lists the same private files of the system as a search without it', () => {
  const list = (findProgram?: string): ReadonlySet<string> =>
    new Set(systemSecretPaths('/usr/bin:/bin', true, undefined, findProgram).map(({ at, file }) => `${at} ${file}`));
  assert.deepEqual(list(), list(path.join(root, 'absent')));
});
