// Long-running programs, such as language servers, in a sandbox: they can read the directory, write nothing in it, and have the limits of a command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { noNamespaceSandbox } from '../../../test/support/sandbox.ts';
import { chooseSandbox } from './choose.ts';
import { noSandbox, unavailableSandbox } from './sandbox.ts';

const search = process.env['PATH'] ?? '';
const skip = await noNamespaceSandbox();

test(
  'a long-running program can read the directory and its input, and can write neither there nor in .git',
  { skip },
  async (t) => {
    const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-confine-')));
    t.after(() => rmSync(place, { recursive: true, force: true }));
    const [root, home] = [path.join(place, 'root'), path.join(place, 'home')];
    mkdirSync(path.join(root, '.git'), { recursive: true });
    mkdirSync(home);
    writeFileSync(path.join(root, 'file'), 'seen ');
    writeFileSync(path.join(home, 'key'), 'secret');
    const { confine } = await chooseSandbox({ roots: [root], home, path: search });
    const script = `cat; cat file; cat ${home}/key; echo x > made; echo x > .git/made; echo x > /tmp/own && echo done`;
    const [program, ...args] = confine?.(['/bin/sh', '-c', script], root) ?? [''];
    const { status, stdout } = spawnSync(program, args, { cwd: root, input: 'heard ', encoding: 'utf8' });
    assert.deepEqual([status, stdout], [0, 'heard seen done\n']);
    assert.ok(!existsSync(path.join(root, 'made')) && !existsSync(path.join(root, '.git/made')));
  },
);

test('without a sandbox a program is started unconfined only if the user turned the sandbox off', () => {
  assert.deepEqual(noSandbox.confine?.(['a', 'b'], '/'), ['a', 'b']);
  assert.equal(unavailableSandbox('no reason').confine, undefined);
});
