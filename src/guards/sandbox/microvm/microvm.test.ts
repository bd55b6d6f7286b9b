// Commands in a virtual machine: the promises of the other sandboxes, with one boot; and what says why there is none. With `FAIRLEAD_TEST_KERNEL` a kernel image outside /boot is used, and without /dev/kvm the processor is emulated.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Workspace } from '../../../core/index.ts';
import { localWorkspace } from '../../../workspace/index.ts';
import { chooseSandbox } from '../choose.ts';
import { withSandbox, type MicrovmOptions, type Sandbox } from '../sandbox.ts';
import { createArchive } from './cpio.ts';
import { findMicrovm } from './find-microvm.ts';
import { findKernelModules } from './kernel-modules.ts';
import { machineOptions } from './microvm-launcher.ts';

const search = process.env['PATH'] ?? '';
const kernel = process.env['FAIRLEAD_TEST_KERNEL'];
const options: MicrovmOptions = {
  ...(kernel === undefined ? {} : { kernel }),
  ...(existsSync('/dev/kvm') ? {} : { emulation: true }),
};

function createFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-vm-test-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Fixture = {
  readonly root: string;
  readonly home: string;
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
};

async function createFixture(t: TestContext, microvm: MicrovmOptions = options): Promise<Fixture> {
  const place = createFolder(t);
  const [root, home] = [path.join(place, 'root'), path.join(place, 'home')];
  for (const each of [root, home]) mkdirSync(each);
  const sandbox = await chooseSandbox({ mode: 'microvm', roots: [root], home, path: search, microvm });
  return { root, home, sandbox, workspace: withSandbox(localWorkspace({ roots: [root] }), sandbox) };
}

const found = findMicrovm({ roots: [], path: search }, options);
const skip = 'why' in found && `no microVM here: ${found.why}`;

test(
  '[A118] a command in a virtual machine has its own kernel, writes only in the working directory, and has no network, home, keys or rights',
  { skip, timeout: 240_000 },
  async (t) => {
    const server = createServer((socket) => socket.end('reached\n'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { root, home, sandbox, workspace } = await createFixture(t);
    assert.equal(sandbox.name, 'microvm', sandbox.description);
    const beside = path.join(path.dirname(root), 'beside');
    writeFileSync(path.join(home, 'diary'), 'private');
    writeFileSync(path.join(root, 'input'), 'from outside\n');
    mkdirSync(path.join(root, '.git/hooks'), { recursive: true });
    process.env['FAIRLEAD_TEST_API_KEY'] = 'a-secret-value';
    t.after(() => delete process.env['FAIRLEAD_TEST_API_KEY']);
    const lines = [
      'echo "kernel: $(uname -r)"',
      'cat input; echo kept > "a file"; mkdir sub; echo err >&2',
      `printf 'bytes: \\001\\377 \\303\\251 end\\n' > bytes; cat bytes > /dev/stdout`,
      `for f in /usr/x /etc/x /x .git/hooks/pre-commit; do (echo x > "$f") 2>/dev/null && echo "written $f"; done; echo x > '${beside}'`,
      'echo x > /tmp/mine && cat /tmp/mine',
      `cat '${home}/diary' /etc/shadow /dev/mem /dev/kmsg 2>/dev/null; ls -A '${home}'`,
      'env | grep -c a-secret-value',
      `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>/dev/null; getent hosts example.com; tail -n +3 /proc/net/dev | grep -v ' lo:'`,
      'grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status | tr -s "\\t" " "',
      '(echo 1 > /proc/sys/kernel/sysrq) 2>/dev/null && echo "written sysctl"; mount -t tmpfs x /tmp 2>/dev/null && echo mounted',
      'setsid sleep 300 >/dev/null 2>&1 & sleep 300 & cat <(echo substituted)',
      'seq 1 20000 | cksum',
      'pwd; exit 7',
    ];
    const { code, text } = await workspace.exec(lines.join('\n'), { timeoutMs: 200_000 });
    assert.equal(code, 7, text);
    assert.deepEqual(text.split('\n'), [
      `kernel: ${path.basename('kernel' in found ? found.kernel : '').replace(/^[^-]*-/, '')}`,
      'from outside',
      'err',
      'bytes: \u0001\ufffd é end',
      'x',
      '0',
      'CapEff: 0000000000000000',
      'CapBnd: 0000000000000000',
      'NoNewPrivs: 1',
      'substituted',
      text.split('\n').find((line) => /^\d+ 108894$/.test(line)) ?? 'the output of seq',
      root,
      '',
    ]);
    assert.equal(readFileSync(path.join(root, 'a file'), 'utf8'), 'kept\n');
    assert.deepEqual([...readFileSync(path.join(root, 'bytes'))].slice(7, 9), [1, 255]);
    assert.ok(!existsSync(beside) && !existsSync('/tmp/mine') && !existsSync(path.join(root, '.git/hooks/pre-commit')));
  },
);

test('[A118] a virtual machine ends with the command that is stopped', { skip, timeout: 120_000 }, async (t) => {
  const { workspace } = await createFixture(t);
  const ended = await workspace.exec('sleep 600', { timeoutMs: 3000 });
  assert.equal(ended.stopped, 'timeout');
});

test('[A118] a microVM that is not available refuses every command with the reason, and is never replaced by another sandbox', async (t) => {
  const place = createFolder(t);
  mkdirSync(path.join(place, 'boot'));
  writeFileSync(path.join(place, 'boot/vmlinuz-1.2.3'), '');
  const { sandbox, workspace } = await createFixture(t, { kernel: path.join(place, 'boot/vmlinuz-1.2.3') });
  assert.equal(sandbox.name, 'refused');
  assert.match(
    sandbox.description,
    /^Commands are not run: no microVM can be started: .+\. .+, or start with --no-sandbox/,
  );
  await assert.rejects(workspace.exec('echo ran'), /no microVM can be started/);
});

test('what is missing is named: Linux, KVM, a runtime, a program, a kernel, and hosts that cannot be reached', (t) => {
  const place = createFolder(t);
  const why = (paths: Partial<Parameters<typeof findMicrovm>[0]>, more: MicrovmOptions = {}): string => {
    const result = findMicrovm({ roots: [], path: search, ...paths }, more);
    return 'why' in result ? result.why : 'found';
  };
  if (process.platform !== 'linux') return assert.match(why({}), /needs Linux/);
  if (!existsSync('/dev/kvm')) assert.match(why({}), /there is no \/dev\/kvm/);
  assert.match(why({ path: place }, { emulation: true }), /the runtime of the microVM, is not installed/);
  assert.match(why({ egress: { hosts: ['x'], isPublic: () => true } }), /hosts are allowed/);
  if ('why' in found) return undefined;
  assert.match(why({}, { emulation: true, kernel: '/nowhere/vmlinuz-1' }), /cannot be read|no module/);
  return undefined;
});

test('modules are listed in the order of their dependencies, decompressed, and without those of the kernel', (t) => {
  const folder = createFolder(t);
  const files = {
    'kernel/virtio_pci.ko': Buffer.from('pci'),
    'kernel/9pnet.ko.gz': gzipSync('net'),
    'kernel/9pnet_virtio.ko.zst': zstdCompressSync(Buffer.from('trans')),
    'kernel/9p.ko': Buffer.from('fs'),
  };
  mkdirSync(path.join(folder, 'kernel'));
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  writeFileSync(path.join(folder, 'modules.builtin'), 'kernel/virtio_console.ko\n');
  const dependencies = [
    'kernel/virtio_pci.ko:',
    'kernel/9p.ko: kernel/9pnet.ko.gz',
    'kernel/9pnet_virtio.ko.zst: kernel/9pnet.ko.gz',
    'kernel/9pnet.ko.gz:',
  ];
  writeFileSync(path.join(folder, 'modules.dep'), dependencies.join('\n'));
  const modules = findKernelModules(folder);
  assert.ok(typeof modules !== 'string', String(modules));
  assert.deepEqual(
    modules.map(({ name, content }) => `${name} ${content.toString()}`),
    ['virtio_pci pci', '9pnet net', '9pnet_virtio trans', '9p fs'],
  );
  rmSync(path.join(folder, 'kernel/9p.ko'));
  assert.match(String(findKernelModules(folder)), /9p\.ko cannot be read/);
  writeFileSync(path.join(folder, 'modules.dep'), '');
  assert.match(String(findKernelModules(folder)), /has no module virtio_pci, 9pnet_virtio, 9p/);
});

test('an archive has aligned entries and a trailer, and a machine has no network and no other device', () => {
  const archive = createArchive([
    { type: 'folder', path: '/bin' },
    { type: 'file', path: '/bin/a', content: Buffer.from('abc'), isExecutable: true },
    { type: 'console', path: '/dev/console' },
  ]);
  assert.equal(archive.length % 4, 0);
  assert.match(String(archive), /^070701[\da-f]{104}bin\0[^]*bin\/a\0+abc[^]*dev\/console\0[^]*TRAILER!!!\0+$/);
  for (const architecture of ['arm64', 'x64'] as const)
    for (const isHardware of [true, false]) {
      const line = machineOptions({ architecture, isHardware }).join(' ');
      assert.match(line, /-nodefaults/);
      assert.match(line, isHardware ? /accel=kvm.* -cpu host/ : /accel=tcg/);
      assert.doesNotMatch(line, /-net|-nic|vsock/);
    }
});
