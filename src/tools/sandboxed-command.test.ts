// The sandboxed command calls the engine exactly as documented, and leaves no container.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { isToolOutput, type ToolOutput, type ToolContext } from '../core/index.ts';
import { containerSandbox, withSandbox, type ContainerOptions } from '../guards/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { sandboxedCommand } from './index.ts';

type EngineFixture = {
  readonly run: (command: string, context?: Partial<ToolContext>, seconds?: number) => Promise<ToolOutput>;
  /** The arguments of every call of the fake engine. */
  readonly argvs: () => readonly (readonly string[])[];
};

/** A tool on an engine that is a script: it records its arguments, and then executes this. */
function setup(t: test.TestContext, script: string, options: ContainerOptions = {}, name = 'podman'): EngineFixture {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-box-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const engine = path.join(root, name);
  const record = path.join(root, 'calls');
  writeFileSync(record, '');
  writeFileSync(engine, `#!/bin/sh\n{ printf '%s\\037' "$@"; printf '\\036'; } >> ${record}\n${script}\n`);
  chmodSync(engine, 0o755);
  const tool = sandboxedCommand(
    withSandbox(localWorkspace({ roots: [root] }), containerSandbox({ engine, ...options })),
  );
  return {
    async run(command, context = {}, seconds) {
      const input = { command, ...(seconds === undefined ? {} : { timeout_s: seconds }) };
      const given = { signal: new AbortController().signal, ...context } as ToolContext;
      const value: unknown = await tool.execute(input, given);
      assert.ok(isToolOutput(value));
      return value;
    },
    argvs: () =>
      readFileSync(record, 'utf8')
        .split('\u001e')
        .filter((call) => call !== '')
        .map((call) => call.split('\u001f').slice(0, -1)),
  };
}

test('[J4, J84, J85, J96] the call is <engine> run -u <uid> -v <volume>:<mountpoint> -w <workdir> <image>, hardened', async (t) => {
  const { run, argvs } = setup(t, 'test "$1" = run && echo made; exit 0', { user: 1234 });
  assert.equal((await run('echo "$HOME"; ls')).text, 'made\n[Exit code: 0.]');
  const [inspect, argv = []] = argvs();
  assert.deepEqual(inspect, ['volume', 'inspect', 'llm-harness-tool-workspace']);
  const at = argv.indexOf('-u');
  const shape = ['-u', '1234', '-v', 'llm-harness-tool-workspace:/workspace', '-w', '/workspace', 'alpine'];
  assert.deepEqual(argv.slice(at), [...shape, 'sh', '-c', 'echo "$HOME"; ls']);
  assert.equal(argv[0], 'run');
});

test('[A16, A17] the container has no network, no capabilities, a read-only root, and limits on memory, processes and CPUs', async (t) => {
  const { run, argvs } = setup(t, 'exit 0');
  await run('true');
  const line = argvs()[1]?.join(' ') ?? '';
  for (const option of [
    '--rm',
    '--network none',
    '--security-opt no-new-privileges',
    '--cap-drop ALL',
    '--read-only',
    '--tmpfs /tmp',
    '--memory 512m',
    '--pids-limit 256',
    process.getuid?.() === 0 ? '--cpus 2' : '--ulimit cpu=120',
  ])
    assert.ok(line.includes(` ${option} `), option);
  const own = process.getuid?.();
  assert.ok(line.includes(` -u ${own === 0 ? 65_534 : own} `));
});

test('[J83, J84, J85, J97] engine, image and volume are the configured ones; any podman-compatible program works', async (t) => {
  const { run, argvs } = setup(t, 'exit 0', { image: 'localhost/busy:1', volume: 'mine', mountpoint: '/data' });
  await run('true');
  await run('true');
  const [inspect, ...runs] = argvs();
  assert.deepEqual(inspect, ['volume', 'inspect', 'mine']);
  assert.deepEqual(
    runs.map((argv) => argv.slice(-8, -3)),
    [
      ['-v', 'mine:/data', '-w', '/data', 'localhost/busy:1'],
      ['-v', 'mine:/data', '-w', '/data', 'localhost/busy:1'],
    ],
  );
});

test('a volume, image or mountpoint with an ambiguous name is refused', (t) => {
  const wrong: readonly ContainerOptions[] = [
    { volume: '/etc' },
    { volume: './here' },
    { volume: 'a:/b' },
    { image: '--privileged' },
    { mountpoint: 'x:ro' },
  ];
  for (const options of wrong) assert.throws(() => setup(t, '', options), { code: 'sandbox/unusable' });
});

test('[J9] attack 82: without an engine or its volume nothing runs, and one sentence says how to fix it', async (t) => {
  const missing = setup(t, 'echo "Error: no such volume mine" >&2; exit 1', { volume: 'mine' });
  await assert.rejects(missing.run('true'), {
    message: /does not exist, so nothing was run\. Create it: .*podman volume create mine$/,
  });
  assert.equal(missing.argvs().length, 1);
  await assert.rejects(setup(t, '', { engine: 'no-engine-x' }).run('true'), {
    message: /no-engine-x is not installed, so nothing was run\. Install it/,
  });
  const broken = setup(t, 'echo "cannot connect" >&2; exit 125');
  await assert.rejects(broken.run('true'), { message: /does not work here: cannot connect/ });
});

test('attack 38: an engine binary inside the directory is not run, also if the search path leads there', async (t) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-box-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const before = process.env['PATH'];
  t.after(() => (process.env['PATH'] = before));
  process.env['PATH'] = [root, before].join(path.delimiter);
  writeFileSync(path.join(root, 'engine-x'), `#!/bin/sh\necho run >> '${root}/record'\n`, { mode: 0o755 });
  const workspace = localWorkspace({ roots: [root] });
  const box = (apart: readonly string[]): Promise<unknown> =>
    withSandbox(workspace, containerSandbox({ engine: 'engine-x' }, apart)).exec('true');
  await assert.rejects(box([root]), { message: /^engine-x is not installed, so nothing was run/ });
  assert.equal(existsSync(path.join(root, 'record')), false);
  await box([path.join(root, 'elsewhere')]);
  assert.equal(
    existsSync(path.join(root, 'record')),
    true,
    'it is found outside the directories that commands can write',
  );
});

test('an image that cannot be started is reported; the exit code of the command is kept separate', async (t) => {
  const failing = setup(t, 'test "$1" = run || exit 0; echo "no such image" >&2; exit 125');
  await assert.rejects(failing.run('true'), { message: /could not start alpine, so nothing was run: no such image/ });
  const own = setup(t, 'test "$1" = run || exit 0; echo out; exit 7');
  assert.equal((await own.run('true')).text, 'out\n[Exit code: 7.]');
});

test('[A18] at its timeout or an abort the container is removed by name, because killing the client would orphan it', async (t) => {
  const script = 'case "$*" in run*"sleep 60") echo up; exec sleep 60;; esac';
  const { run, argvs } = setup(t, script);
  assert.match((await run('sleep 60', {}, 1)).text, /^up\n\[Stopped after 1 s/);
  const stop = new AbortController();
  const aborted = run('sleep 60', { signal: stop.signal, progress: () => stop.abort() });
  await assert.rejects(aborted, { message: /interrupted/ });
  const nameIn = (argv: readonly string[] = []): string => argv[argv.indexOf('--name') + 1] ?? '';
  const [, late, removed, cut, removedToo] = argvs();
  assert.deepEqual(removed, ['rm', '-f', '-t', '0', nameIn(late)]);
  assert.deepEqual(removedToo, ['rm', '-f', '-t', '0', nameIn(cut)]);
  assert.notEqual(nameIn(late), nameIn(cut));
  const docker = setup(t, script, {}, 'docker');
  await docker.run('sleep 60', {}, 1);
  assert.deepEqual(docker.argvs().at(-1)?.slice(0, -1), ['rm', '-f']);
});

test('[J83, J98] a volume that docker created for root is given to the user once, with the least privileges', async (t) => {
  const script = 'case "$*" in *"test -w ."*) exit 1;; esac; exit 0';
  const { run, argvs } = setup(t, script, { user: 1234, volume: 'mine' }, 'docker');
  await run('true');
  await run('true');
  const [, , given = [], ...runs] = argvs();
  assert.match(
    given.join(' '),
    / --network none .*--cap-drop ALL .*--cap-add CHOWN -u 0 -v mine:.workspace -w .workspace alpine sh -c touch \.sandbox && chown 1234 \. \.sandbox$/,
  );
  assert.deepEqual(
    runs.map((argv) => argv.slice(-3).join(' ')),
    ['sh -c true', 'sh -c true'],
  );
});

/** A small local image, because a test pulls nothing. */
const image = 'fairlead-busybox';
const volume = 'fairlead-test-volume';
const runEngine = (engine: string, ...args: readonly string[]): string | undefined => {
  const { status, stdout } = spawnSync(engine, args, { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
};

for (const engine of ['podman', 'docker']) {
  const skip = runEngine(engine, 'image', 'inspect', image) ? false : `no ${engine} with an image called ${image} here`;
  test(
    `[J4, J83, J98, J99, A16, A17, A18] in a real container of ${engine}: no network, not root, files persist, nothing left over`,
    { skip, timeout: 120_000 },
    async (t) => {
      runEngine(engine, 'volume', 'rm', '-f', volume);
      const box = setup(t, '', { engine, image, volume });
      await assert.rejects(box.run('true'), { message: new RegExp(`Make it: ${engine} volume create ${volume}$`) });
      runEngine(engine, 'volume', 'create', volume);
      t.after(() => runEngine(engine, 'volume', 'rm', '-f', volume));
      assert.equal((await box.run('echo kept > a; id -u; pwd')).text, `${process.getuid?.() || 65_534}\n/workspace`);
      assert.equal((await box.run('cat a; ls /sys/class/net')).text, 'kept\nlo');
      assert.match((await box.run('touch /x')).text, /Read-only file system/);
      const mount = runEngine(engine, 'volume', 'inspect', '--format', '{{.Mountpoint}}', volume)?.trim() ?? '';
      assert.equal(readFileSync(path.join(mount, 'a'), 'utf8'), 'kept\n');
      assert.match((await box.run('sleep 60', {}, 3)).text, /Ended by us/);
      assert.doesNotMatch(runEngine(engine, 'ps', '-a', '--format', '{{.Names}}') ?? 'fairlead-', /fairlead-/);
    },
  );

  const python = 'fairlead-python';
  const without = runEngine(engine, 'image', 'inspect', python)
    ? false
    : `no ${engine} with an image called ${python} here`;
  test(
    `[A19] in a real container of ${engine}: Python is written and run, and has no network`,
    { skip: without, timeout: 120_000 },
    async (t) => {
      const name = `${volume}-python`;
      runEngine(engine, 'volume', 'create', name);
      t.after(() => runEngine(engine, 'volume', 'rm', '-f', name));
      const box = setup(t, '', { engine, image: python, volume: name });
      const lines = [
        'import socket, sys',
        'print(sum(range(10)))',
        'try:',
        '    socket.create_connection(("192.0.2.1", 80), 2)',
        '    print("connected")',
        'except OSError as error: print(type(error).__name__, error.errno)',
      ];
      await box.run(`cat > a.py <<'E'\n${lines.join('\n')}\nE`);
      assert.equal((await box.run('python3 a.py')).text, '45\nOSError 101', 'there is no network route');
    },
  );
}
