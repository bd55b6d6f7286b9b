// A container for the working directory, for machines without a lighter sandbox.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { removeIdlePlaceholders } from './placeholders.ts';
import { withSandbox } from './sandbox.ts';

type ContainerFixture = {
  readonly work: string;
  readonly home: string;
  readonly engine: string;
  readonly engineCalls: () => string;
};

/** A working directory, and an engine that is a script: it records its arguments and then executes this. */
function setup(t: TestContext, script: string): ContainerFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-roots-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [work, home, engine] = ['work', 'home', 'podman'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(path.join(work, '.git/hooks'), { recursive: true });
  mkdirSync(home);
  const record = path.join(root, 'calls');
  writeFileSync(engine, `#!/bin/sh\necho "$@" >> '${record}'\n${script}\n`);
  chmodSync(engine, 0o755);
  return { work, home, engine, engineCalls: () => readFileSync(record, 'utf8') };
}

// Tests here are about containers, whatever sandbox the other tests use.
delete process.env['FAIRLEAD_SANDBOX'];

test('without a lighter sandbox a container gets the working directory, with executable project files read-only', async (t) => {
  const { work, home, engine, engineCalls } = setup(t, '[ "$1" = image ] || echo done');
  const container = { engine: 'podman', image: 'alpine' };
  const sandbox = await chooseSandbox({ roots: [work], home, path: path.dirname(engine), container });
  assert.equal(sandbox.name, 'podman');
  const workspace = withSandbox(localWorkspace({ roots: [work] }), sandbox);
  const { text } = await workspace.exec('make it', { timeoutMs: 9000, writesGit: true });
  assert.equal(text, 'done\n');
  const [inspect, ran] = engineCalls().split('\n');
  assert.equal(inspect, 'image inspect alpine');
  assert.match(
    ran ?? '',
    /^run --rm --network none --security-opt no-new-privileges --cap-drop ALL --read-only .*--timeout 14 /,
  );
  const controlFiles = ['config', 'config.worktree', 'commondir', 'hooks', 'info'];
  const mounts = [
    `-v ${work}:${work} -v ${work}/.git:${work}/.git`,
    ...controlFiles.map((name) => `-v ${work}/.git/${name}:${work}/.git/${name}:ro`),
    `-w ${work} alpine /bin/sh -c `,
  ];
  const user = `${process.getuid?.() === 0 ? '' : '--userns keep-id '}-u ${process.getuid?.()}:${process.getgid?.()}`;
  assert.ok(ran?.includes(` ${user} ${mounts.join(' ')}`) && ran.endsWith(' sh exec 2>&1; make it'), ran);
  removeIdlePlaceholders();
  assert.deepEqual(readdirSync(path.join(work, '.git')), ['hooks'], 'placeholders are removed');
  await workspace.exec('make it');
  const second = engineCalls().split('\n')[2];
  assert.ok(second?.includes(` -v ${work}:${work} -v ${work}/.git:${work}/.git:ro -w ${work} `), second);
  await withSandbox(localWorkspace({ roots: [work] }), sandbox, { access: 'read' }).exec('look');
  const looked = engineCalls().split('\n')[3];
  assert.ok(looked?.includes(` ${user} -v ${work}:${work}:ro -w ${work} alpine /bin/sh -c `), looked);
  assert.ok(looked?.endsWith(' sh exec 2>&1; look'), looked);
});

test('[attack 82] a missing image is not pulled, and an engine inside a root is not run', async (t) => {
  const { work, home, engine, engineCalls } = setup(t, 'exit 1');
  const container = { engine: 'podman', image: 'alpine' };
  const without = await chooseSandbox({ roots: [work], home, path: path.dirname(engine), container });
  assert.equal(without.name, 'refused');
  assert.equal(engineCalls(), 'image inspect alpine\n');
  const planted = await chooseSandbox({ roots: [path.dirname(work)], home, path: path.dirname(engine), container });
  assert.equal(planted.name, 'refused');
  assert.equal(engineCalls(), 'image inspect alpine\n');
});

const image = 'fairlead-busybox';
const skip =
  spawnSync('podman', ['image', 'inspect', image]).status === 0
    ? false
    : `no podman with an image called ${image} here`;

test(
  '[A16] in a real podman container the directory is writable and the rest of the machine is not visible',
  { skip, timeout: 60_000 },
  async (t) => {
    const { work, home } = setup(t, '');
    const engine = ['/usr/bin/podman', '/usr/local/bin/podman'].find((each) => existsSync(each)) ?? 'podman';
    // A search path without bubblewrap on it, but with the engine's own programs in the environment.
    const sandbox = await chooseSandbox({ roots: [work], home, path: '/nowhere', container: { engine, image } });
    assert.equal(sandbox.name, 'podman');
    const { text } = await withSandbox(localWorkspace({ roots: [work] }), sandbox).exec(
      `echo x > made; echo x > .git/hooks/pre-commit; ls /sys/class/net; ls '${home}'; touch /x; pwd`,
      { timeoutMs: 30_000 },
    );
    assert.equal(readFileSync(path.join(work, 'made'), 'utf8'), 'x\n');
    assert.ok(!existsSync(path.join(work, '.git/hooks/pre-commit')));
    assert.match(text, /^lo$/m);
    assert.match(text, new RegExp(`^${work}$`, 'm'));
  },
);
