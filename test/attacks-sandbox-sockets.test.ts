// Attacks on programs outside the sandbox through the Unix sockets that they have below a folder that commands see.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Workspace } from '../src/core/index.ts';
import { bindMountContainerSandbox } from '../src/guards/sandbox/container.ts';
import { chooseSandbox, withSandbox } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { noNamespaceSandbox } from './support/sandbox.ts';

const skip = (await noNamespaceSandbox()) || (spawnSync('python3', ['--version']).status !== 0 && 'no python3 here');

/** Serves a socket until it is stopped; `argv` is the path. */
const serveScript = `import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
while True:
    c, _ = s.accept()
    try: c.sendall(b'served by ' + sys.argv[2].encode())
    except BrokenPipeError: pass
    c.close()
`;
const connectScript = `import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(99).decode())
`;

type Fixture = { readonly root: string; readonly run: Workspace['exec']; readonly read: Workspace['exec'] };

async function setup(t: TestContext): Promise<Fixture> {
  // The path of a socket has at most 107 bytes.
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fl-sock-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));
  const [root, home] = [path.join(place, 'root'), path.join(place, 'home')];
  mkdirSync(root);
  mkdirSync(home);
  writeFileSync(path.join(root, 'serve.py'), serveScript);
  writeFileSync(path.join(root, 'connect.py'), connectScript);
  const sandbox = await chooseSandbox({
    roots: [root],
    home,
    path: process.env['PATH'] ?? '',
    quarantine: path.join(place, 'trash'),
  });
  const workspace = localWorkspace({ roots: [root] });
  const [writing, reading] = [withSandbox(workspace, sandbox), withSandbox(workspace, sandbox, { access: 'read' })];
  return {
    root,
    run: (command, options) => writing.exec(command, { timeoutMs: 60_000, ...options }),
    read: (command, options) => reading.exec(command, { timeoutMs: 60_000, ...options }),
  };
}

/** Opens a socket of a program outside the sandbox, here of this process. */
async function openHostSocket(t: TestContext, at: string): Promise<Server> {
  const server = createServer((socket) => void socket.end('served by the host'));
  t.after(() => server.close());
  server.listen(at);
  await once(server, 'listening');
  return server;
}

async function waitFor(file: string): Promise<void> {
  for (let tries = 0; tries < 400 && !existsSync(file); tries++) await wait(25);
  assert.ok(existsSync(file), `${file} appears`);
}

const connectTo = (socket: string): string => `python3 connect.py ${socket}`;

test('[attack 154] a command reaches no socket of a program outside the sandbox', { skip }, async (t) => {
  const { root, run, read } = await setup(t);
  mkdirSync(path.join(root, 'a/b'), { recursive: true });
  mkdirSync(path.join(root, '.vscode'));
  symlinkSync('a/b', path.join(root, 'link'));
  await openHostSocket(t, path.join(root, 'top.sock'));
  await openHostSocket(t, path.join(root, 'link/deep.sock'));
  await openHostSocket(t, path.join(root, '.vscode/ipc.sock'));
  await openHostSocket(t, path.join(root, 'a/b/draft.sock'));
  renameSync(path.join(root, 'a/b/draft.sock'), path.join(root, 'a/b/renamed.sock'));
  const sockets = ['top.sock', 'a/b/deep.sock', 'link/deep.sock', '.vscode/ipc.sock', 'a/b/renamed.sock'];
  for (const exec of [run, read])
    for (const socket of sockets) {
      const { text, code } = await exec(connectTo(socket));
      assert.notEqual(code, 0, text);
      assert.match(text, /ConnectionRefusedError|PermissionError/, socket);
    }
  // A folder above a socket can neither be renamed nor removed, or the next command would find the socket elsewhere.
  const moved = await run(
    'mv a c; mv a/b a/c; mv top.sock x; ln top.sock y; mv .vscode z; rm -r a; touch .vscode/new a/b/new; ls -A . a',
  );
  assert.match(moved.text, /Device or resource busy/);
  assert.match(moved.text, /touch: .*\.vscode\/new.*Read-only/);
  assert.ok(existsSync(path.join(root, 'a/b/new')), 'other files stay writable');
  for (const socket of sockets) assert.notEqual((await run(connectTo(socket))).code, 0, socket);
  assertAttack(t, 154, ['blocked']);
});

test('[attack 154] a socket that was bound by a relative name is found', { skip }, async (t) => {
  const { root, run } = await setup(t);
  mkdirSync(path.join(root, 'app'));
  const server = spawn('python3', [path.join(root, 'serve.py'), './.run.sock', 'the host'], {
    cwd: path.join(root, 'app'),
    stdio: 'ignore',
  });
  t.after(() => server.kill('SIGKILL'));
  await waitFor(path.join(root, 'app/.run.sock'));
  const { text, code } = await run(connectTo('app/.run.sock'));
  assert.notEqual(code, 0, text);
  assert.doesNotMatch(text, /served/);
  assertAttack(t, 154, ['blocked']);
});

test('[attack 154] a socket that is opened while a command runs is covered for the next one', { skip }, async (t) => {
  const { root, run } = await setup(t);
  mkdirSync(path.join(root, 'a'));
  const stop = new AbortController();
  const background = run('touch ready; sleep 60', { signal: stop.signal });
  await waitFor(path.join(root, 'ready'));
  await openHostSocket(t, path.join(root, 'a/late.sock'));
  const { text, code } = await run(connectTo('a/late.sock'));
  assert.notEqual(code, 0, text);
  assert.match(text, /ConnectionRefusedError|PermissionError/);
  stop.abort();
  await background;
  assertAttack(t, 154, ['blocked']);
});

test(
  '[attack 154] a socket of a program in another network namespace is covered directly in the folder',
  { skip },
  async (t) => {
    const { root, run } = await setup(t);
    // The program is no child of this process: a shell in the background has ended.
    const script = `unshare -U -r -n python3 ${root}/serve.py ${root}/other.sock 'another namespace' >/dev/null 2>&1 & echo $!`;
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    t.after(() => process.kill(Number(stdout), 'SIGKILL'));
    await waitFor(path.join(root, 'other.sock'));
    const refused = await run(connectTo('other.sock'));
    assert.notEqual(refused.code, 0, refused.text);
    const stop = new AbortController();
    // A running command binds the same name elsewhere, which does not make the socket its own.
    const background = run(
      'cp serve.py /tmp; cd /tmp; touch "$OLDPWD/ready"; python3 serve.py other.sock "the command"',
      { signal: stop.signal },
    );
    await waitFor(path.join(root, 'ready'));
    assert.notEqual((await run(`sleep 0.5; ${connectTo('other.sock')}`)).code, 0);
    assert.notEqual((await run(connectTo('other.sock'))).code, 0);
    stop.abort();
    await background;
    assertAttack(t, 154, ['blocked']);
  },
);

test(
  'sockets of commands stay usable: in the command, for later commands while it runs, and after it ended',
  { skip },
  async (t) => {
    const { root, run } = await setup(t);
    mkdirSync(path.join(root, 'a'));
    for (const socket of ['a/dev.sock', 'dev.sock']) {
      const stop = new AbortController();
      const background = run(`python3 serve.py ${path.join(root, socket)} "a command"`, { signal: stop.signal });
      await waitFor(path.join(root, socket));
      assert.match((await run(connectTo(socket))).text, /^served by a command/);
      assert.match((await run(connectTo(socket))).text, /^served by a command/);
      stop.abort();
      await background;
      const again = await run(
        `rm ${socket}; python3 serve.py ${socket} "the next" & until [ -S ${socket} ]; do sleep 0.05; done; sleep 0.2; ${connectTo(socket)}; kill %1`,
      );
      assert.match(again.text, /served by the next/);
      assert.match((await run(`rm ${socket} && echo removed`)).text, /removed/);
    }
  },
);

test(
  '[attack 154] a container gets an empty file in place of a socket',
  { skip: process.platform !== 'linux' && 'sockets are covered on Linux' },
  async (t) => {
    const { root } = await setup(t);
    const engine = path.join(path.dirname(root), 'podman');
    writeFileSync(engine, `#!/bin/sh\nprintf '%s\\n' "$@" > '${root}/args'\n`);
    chmodSync(engine, 0o755);
    mkdirSync(path.join(root, 'a'));
    await openHostSocket(t, path.join(root, 'a/host.sock'));
    const paths = { roots: [root], home: '/nowhere', path: '/nowhere' };
    await withSandbox(
      localWorkspace({ roots: [root] }),
      bindMountContainerSandbox({ engine, image: 'box' }, paths),
    ).exec('true', { timeoutMs: 20_000 });
    const args = readFileSync(path.join(root, 'args'), 'utf8').split('\n');
    const at = (mount: string): number => args.indexOf(mount);
    assert.ok(at(`/dev/null:${root}/a/host.sock:ro`) > at(`${root}/a:${root}/a`));
    assert.ok(at(`${root}/a:${root}/a`) > at(`${root}:${root}`));
    assertAttack(t, 154, ['blocked']);
  },
);
