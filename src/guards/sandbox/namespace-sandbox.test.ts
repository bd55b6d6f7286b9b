import { noNamespaceSandbox, noNodeInside } from '../../../test/support/sandbox.ts';
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ExecOptions, ExecResult, Workspace } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { withSandbox, type SandboxPaths } from './sandbox.ts';
import { findTrustedProgram } from './trusted-program.ts';

const search = process.env['PATH'] ?? '';
const skip = await noNamespaceSandbox();

/** Creates a directory that is removed with the test. */
function folder(t: TestContext): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-bwrap-')));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

type SandboxFixture = {
  readonly root: string;
  readonly home: string;
  readonly workspace: Workspace;
  readonly run: (command: string, options?: ExecOptions) => Promise<ExecResult>;
};

/** A workspace in a sandbox, with a separate home directory. */
async function setup(t: TestContext, more: Partial<SandboxPaths> = {}): Promise<SandboxFixture> {
  const place = folder(t);
  const [root, home] = [path.join(place, 'root'), path.join(place, 'home')];
  for (const each of [root, home]) mkdirSync(each);
  const confines = { roots: [root], home, path: search, ...more };
  const sandbox = await chooseSandbox(confines);
  const workspace = withSandbox(localWorkspace({ roots: confines.roots }), sandbox);
  return {
    root,
    home,
    workspace,
    run: (command, options) => workspace.exec(command, { timeoutMs: 20_000, ...options }),
  };
}

test('a sandboxed command writes to its directory, and the files exist after it ends', { skip }, async (t) => {
  const { root, run } = await setup(t);
  const { code, text } = await run('echo out; echo err >&2; echo kept > file; mkdir sub; pwd');
  assert.equal(code, 0, text);
  assert.equal(text, `out\nerr\n${root}\n`);
  assert.equal(readFileSync(path.join(root, 'file'), 'utf8'), 'kept\n');
});

test('exit codes, signals and timeouts are reported', { skip }, async (t) => {
  const { workspace, run } = await setup(t);
  assert.equal((await run('exit 7')).code, 7);
  assert.equal((await workspace.exec('sleep 30', { timeoutMs: 100 })).stopped, 'timeout');
  const listed = await workspace.exec(['printf', '%s', 'a b'], {});
  assert.equal(listed.text, 'a b');
});

test('nothing outside the roots is writable, and the system is read-only', { skip }, async (t) => {
  const { root, run } = await setup(t);
  const beside = path.join(path.dirname(root), 'beside');
  const { text } = await run(
    `for f in /usr/x /etc/x /x /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do [ -w "$f" ] && echo "writable $f"; (echo x > "$f") 2>/dev/null && echo "written $f"; done; echo x > /tmp/mine && cat /tmp/mine; echo x > '${beside}'`,
  );
  assert.equal(text, 'x\n');
  assert.ok(!existsSync(beside) && !existsSync('/tmp/mine'));
});

test('[attack 32] the home directory, keys, sockets and other processes are not visible', { skip }, async (t) => {
  const { home, run } = await setup(t);
  writeFileSync(path.join(home, 'diary'), 'private');
  const { text } = await run(
    `cat '${home}/diary' /etc/shadow /run/docker.sock /var/run/docker.sock /dev/mem /sys/kernel/notes 2>/dev/null; ls -A ~ /run /sys /tmp/.X11-unix 2>/dev/null; ls /proc | grep -c '^[0-9]'; tr '\\0' '\\n' < /proc/1/cmdline | head -1; cat /proc/${process.pid}/environ 2>&1`,
  );
  assert.doesNotMatch(text, /private/);
  assert.match(text, /^\S*home:\n\n?\d\n|^\d\n/m);
  assert.match(text, /No such file/);
});

test('[attack 76] [attack 57] there is no network and no DNS, not even for localhost', { skip }, async (t) => {
  const server = createServer((socket) => socket.end('reached\n'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { run } = await setup(t);
  const { text } = await run(
    `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>/dev/null; getent hosts example.com; grep -v -e '|' -e ' lo:' /proc/net/dev; echo end`,
  );
  assert.equal(text, 'end\n');
});

test('[attack 76] a Unix socket of a local daemon cannot be reached', { skip: skip || noNodeInside }, async (t) => {
  const place = folder(t);
  const file = path.join(place, 'daemon.sock');
  const server = createServer((socket) => socket.end('reached'));
  await new Promise<void>((resolve) => void server.listen(file, resolve));
  t.after(() => server.close());
  const { run } = await setup(t, { path: `${path.dirname(process.execPath)}:${search}` });
  const client = `require('node:net').connect('${file}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`;
  const { text } = await run(`'${process.execPath}' -e "${client}" 2>&1`);
  assert.equal(text, 'ENOENT\n');
});

test(
  '[attack 77] [attack 78] no privileges can be gained inside: no capabilities, no setuid, no new namespaces',
  { skip },
  async (t) => {
    const { run } = await setup(t);
    const { text } = await run(
      `grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status; mount -t tmpfs none /tmp 2>/dev/null && echo mounted; unshare -m true 2>/dev/null && echo unshared; chroot / true 2>/dev/null && echo chrooted; mknod /tmp/disk b 8 0 2>/dev/null && echo node; true`,
    );
    assert.match(text, /^CapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\n$/m);
    assert.doesNotMatch(text, /mounted|unshared|chrooted|node/);
  },
);

test('[attack 79] a daemon in its own session ends with the command', { skip }, async (t) => {
  const { root, run } = await setup(t);
  await run(
    '(setsid nohup sh -c "while :; do date +%N > beat; sleep 0.02; done" >/dev/null 2>&1 &); while [ ! -s beat ]; do sleep 0.01; done',
  );
  const beat = (): string => readFileSync(path.join(root, 'beat'), 'utf8');
  const last = beat();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(beat(), last);
});

test('[attack 80] there is no terminal for TIOCSTI input', { skip }, async (t) => {
  const { run } = await setup(t);
  const { text } = await run('(echo x > /dev/tty) 2>/dev/null && echo typed; ls /dev/pts');
  assert.equal(text, 'ptmx\n');
});

test(
  '[attack 81] [attack 17] memory, files and processes of a command are limited, and the OOM killer selects it first',
  { skip },
  async (t) => {
    const { run } = await setup(t);
    const { text } = await run('ulimit -u; ulimit -n; ulimit -d; ulimit -f; ulimit -c; cat /proc/self/oom_score_adj');
    assert.match(text, /^2048\n4096\n8388608\n\d+\n0\n1000\n$/);
  },
);

test(
  '[attack 28] files that git executes can be neither written nor moved, and the rest of the repository only with writesGit',
  { skip },
  async (t) => {
    const { root, run } = await setup(t);
    const git = path.join(root, '.git');
    mkdirSync(path.join(git, 'hooks'), { recursive: true });
    writeFileSync(path.join(git, 'config'), '[core]\n');
    writeFileSync(path.join(root, '.gitmodules'), '');
    const command =
      'echo evil > .git/hooks/pre-commit; echo evil >> .git/config; echo evil > .gitmodules; mv .git .old; rm -rf .git; mkdir -p .git/hooks && echo evil > .git/hooks/pre-push; echo ref > .git/HEAD';
    await run(command);
    assert.ok(!existsSync(path.join(git, 'HEAD')), 'the whole repository is read-only');
    await run(command, { writesGit: true });
    assert.ok(!existsSync(path.join(git, 'hooks/pre-commit')) && !existsSync(path.join(git, 'hooks/pre-push')));
    assert.equal(readFileSync(path.join(git, 'config'), 'utf8'), '[core]\n');
    assert.equal(readFileSync(path.join(root, '.gitmodules'), 'utf8'), '');
    assert.equal(readFileSync(path.join(git, 'HEAD'), 'utf8'), 'ref\n');
  },
);

test(
  'if the workspace is the home directory, its keys are hidden and shell startup files are read-only',
  { skip },
  async (t) => {
    const home = folder(t);
    for (const name of ['.ssh', 'state']) mkdirSync(path.join(home, name));
    for (const name of ['.ssh/id_rsa', '.netrc', 'state/log', '.bashrc'])
      writeFileSync(path.join(home, name), 'private\n');
    const { run } = await setup(t, { roots: [home], home, hidden: [path.join(home, 'state')] });
    const { text } = await run(
      'cat .ssh/id_rsa .netrc state/log 2>/dev/null; echo evil >> .bashrc; echo x > state/y; ls; echo ok > done',
    );
    assert.doesNotMatch(text, /private\n/);
    assert.equal(readFileSync(path.join(home, '.bashrc'), 'utf8'), 'private\n');
    assert.ok(!existsSync(path.join(home, 'state/y')));
    assert.equal(readFileSync(path.join(home, 'done'), 'utf8'), 'ok\n');
  },
);

test(
  '[attack 84] secrets in the environment, and sockets of agents and desktops, are not passed in',
  { skip },
  async (t) => {
    const { run } = await setup(t);
    const before = { ...process.env };
    t.after(() => {
      process.env = before;
    });
    Object.assign(process.env, {
      OPENAI_API_KEY: 'k-1',
      SSH_AUTH_SOCK: '/tmp/agent',
      DBUS_SESSION_BUS_ADDRESS: 'unix:x',
      DISPLAY: ':0',
      PLAIN: 'kept',
    });
    const { text } = await run('env');
    assert.doesNotMatch(text, /k-1|SSH_AUTH_SOCK|DBUS|DISPLAY/);
    assert.match(text, /^PLAIN=kept$/m);
  },
);

test('[attack 85] a working directory outside the roots is refused', { skip }, async (t) => {
  const { workspace } = await setup(t);
  await assert.rejects(workspace.exec('pwd', { cwd: '/' }), { code: 'workspace/outside' });
  await assert.rejects(workspace.exec('pwd', { cwd: '../home' }), { code: 'workspace/outside' });
});

test('[attack 83] a bubblewrap binary inside a root, or a link that leads there, is not used', (t) => {
  const root = folder(t);
  const elsewhere = folder(t);
  for (const place of [root, elsewhere]) {
    writeFileSync(path.join(place, 'bwrap'), '#!/bin/sh\nexit 0\n');
    chmodSync(path.join(place, 'bwrap'), 0o755);
  }
  const linked = folder(t);
  symlinkSync(path.join(root, 'bwrap'), path.join(linked, 'bwrap'));
  const places = [root, linked, '.', '', elsewhere];
  assert.equal(findTrustedProgram('bwrap', { roots: [root], path: places.join(':') }), path.join(elsewhere, 'bwrap'));
  assert.equal(findTrustedProgram('bwrap', { roots: [root], path: [root, linked, '.'].join(':') }), undefined);
});

test('[attack 82] without a working sandbox no command runs, and one sentence says what to do', async (t) => {
  const root = folder(t);
  const broken = folder(t);
  writeFileSync(path.join(broken, 'bwrap'), '#!/bin/sh\necho "setting up uid map: Permission denied" >&2\nexit 1\n');
  chmodSync(path.join(broken, 'bwrap'), 0o755);
  const cases = [
    { mode: 'auto', search: root, says: /there is no sandbox on this machine\. Install bubblewrap/ },
    { mode: 'bubblewrap', search: broken, says: /\(setting up uid map: Permission denied\)\. / },
  ] as const;
  for (const { mode, search: where, says } of cases) {
    const sandbox = await chooseSandbox({ mode, roots: [root], home: homedir(), path: where });
    assert.equal(sandbox.name, 'refused');
    const workspace = withSandbox(localWorkspace({ roots: [root] }), sandbox);
    await assert.rejects(workspace.exec('touch ran'), { code: 'sandbox/absent', message: says });
    assert.ok(!existsSync(path.join(root, 'ran')));
  }
});

test('the user can turn the sandbox off explicitly', async (t) => {
  const root = folder(t);
  const sandbox = await chooseSandbox({ mode: 'none', roots: [root], home: homedir(), path: '' });
  const { text } = await withSandbox(localWorkspace({ roots: [root] }), sandbox).exec('pwd');
  assert.equal(text, `${root}\n`);
});

test('[attack 35] an archive with paths outside the workspace extracts nothing there', { skip }, async (t) => {
  const { root, home, run } = await setup(t);
  const target = path.join(path.dirname(root), 'slipped');
  writeFileSync(path.join(root, 'evil'), 'x');
  await run(
    `tar -cPf slip.tar --transform 's,^evil$,../slipped,' evil; tar -xPf slip.tar; ln -s '${home}' out; echo x > out/slipped`,
  );
  assert.ok(existsSync(path.join(root, 'slip.tar')));
  assert.ok(!existsSync(target) && !existsSync(path.join(home, 'slipped')));
});

test('[attack 17] a command that never ends is killed at its timeout, with all its children', { skip }, async (t) => {
  const { root, workspace } = await setup(t);
  const endless = 'for i in 1 2 3 4 5 6 7 8; do (while :; do date +%N > beat.$i; sleep 0.02; done) & done; wait';
  assert.equal((await workspace.exec(endless, { timeoutMs: 500 })).stopped, 'timeout');
  const beats = (): string => [1, 2, 3, 4].map((i) => readFileSync(path.join(root, `beat.${i}`), 'utf8')).join();
  const last = beats();
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(beats(), last);
});
