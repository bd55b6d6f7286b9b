// Commands end on request, with all their children; their output is bounded, and their environment has no secrets.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { Workspace } from '../core/index.ts';
import { isSecretVariable, localWorkspace } from './index.ts';

function workspaceFor(t: test.TestContext): Workspace {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-exec-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return localWorkspace({ roots: [root] });
}

const longTimeout = { timeout: 30_000 };

/** Waits until a process is gone; the timeout of the test is the limit. */
async function waitUntilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

test('[A73] a command returns its exit code and both streams in the order of writing', async (t) => {
  const workspace = workspaceFor(t);
  const heard: string[] = [];
  const ran = await workspace.exec('echo a; echo b >&2; echo c; pwd; exit 3', { onOutput: (text) => heard.push(text) });
  assert.deepEqual(ran, { code: 3, signal: null, text: `a\nb\nc\n${workspace.cwd}\n` });
  assert.equal(heard.join(''), ran.text);
  assert.equal((await workspace.exec('kill -9 $$')).signal, 'SIGKILL');
  assert.match((await workspace.exec('if')).text, /syntax error/);
});

test('a program gets its arguments unchanged; a missing one is reported', async (t) => {
  const workspace = workspaceFor(t);
  assert.equal((await workspace.exec(['printf', '%s', '$HOME;ls'])).text, '$HOME;ls');
  await assert.rejects(workspace.exec(['no-such-program-x']), { code: 'workspace/no-program' });
});

test('[A18] [fault 31] at its timeout a command ends with all its children', longTimeout, async (t) => {
  const ran = await workspaceFor(t).exec('sleep 600 & echo $!; trap "" TERM; sleep 600', { timeoutMs: 300 });
  assert.equal(ran.stopped, 'timeout');
  await waitUntilGone(Number(ran.text));
});

test('an abort ends a command with all its children; after an abort nothing starts', longTimeout, async (t) => {
  const workspace = workspaceFor(t);
  const stop = new AbortController();
  const ran = await workspace.exec('sleep 600 & echo $!; sleep 600', {
    signal: stop.signal,
    onOutput: () => stop.abort(),
  });
  assert.equal(ran.stopped, 'abort');
  await waitUntilGone(Number(ran.text));
  assert.equal((await workspace.exec('echo no', { signal: stop.signal })).text, '');
});

test(
  'attack 79: a background child of a command ends with it and does not delay the result',
  longTimeout,
  async (t) => {
    const ran = await workspaceFor(t).exec('sleep 600 & echo $!');
    assert.equal(ran.code, 0);
    await waitUntilGone(Number(ran.text));
  },
);

test('attack 79: a daemon that left the process group does not delay the result either', longTimeout, async (t) => {
  const ran = await workspaceFor(t).exec('setsid sleep 600 & echo $!; sleep 0.2');
  t.after(() => process.kill(Number(ran.text), 'SIGKILL'));
  assert.equal(ran.code, 0);
});

test('a command ends with the program that ran it, however that exits', longTimeout, async (t) => {
  const { cwd } = workspaceFor(t);
  const program = path.join(cwd, 'program.mjs');
  writeFileSync(
    program,
    `import { localWorkspace } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
     const workspace = localWorkspace({ roots: ['.'] });
     await workspace.exec('echo $$; exec sleep 600', {
       onOutput(pid) { process.stdout.write(pid, () => process.exit()); },
     });`,
  );
  await waitUntilGone(Number(execFileSync(process.execPath, [program], { cwd, encoding: 'utf8' })));
});

test(
  'a command with a watcher process ends with the program that ran it even after kill -9',
  longTimeout,
  async (t) => {
    const { cwd } = workspaceFor(t);
    const program = path.join(cwd, 'program.mjs');
    writeFileSync(
      program,
      `import { localWorkspace } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
     const workspace = localWorkspace({ roots: ['.'] });
     await workspace.exec('sleep 600 & echo $$ $!; wait', {
       killWithParent: true,
       onOutput(pids) { process.stdout.write(pids, () => process.kill(process.pid, 'SIGKILL')); },
     });`,
    );
    const { stdout, signal } = spawnSync(process.execPath, [program], { cwd, encoding: 'utf8' });
    assert.equal(signal, 'SIGKILL');
    const [own, child] = stdout.split(' ').map(Number);
    assert.ok(own && child);
    await Promise.all([waitUntilGone(own), waitUntilGone(child)]);
  },
);

test('[fault 32] endless output is kept in bounded memory: its start, its end, and the omitted size', async (t) => {
  let all = 0;
  const ran = await workspaceFor(t).exec('echo first; seq 1 400000; echo last', {
    maxChars: 1000,
    onOutput: (text) => (all += text.length),
  });
  assert.ok(ran.text.length < 1100);
  assert.match(ran.text, /^first\n1\n2\n[^]*\n\[… 2687906 characters left out …\]\n[^]*\n400000\nlast\n$/);
  assert.equal(all, 2_688_906);
});

test('binary output and characters split between two chunks cause no error', async (t) => {
  const ran = await workspaceFor(t).exec(`printf '\\303'; sleep 0.1; printf '\\244\\377'`);
  assert.equal(ran.text, 'ä\ufffd');
});

test('attacks 18 and 19: a command that no shell could accept is refused in one sentence', async (t) => {
  const workspace = workspaceFor(t);
  for (const command of ['', '  ', 'echo \0', 'echo \ud800', `echo ${'x'.repeat(10_000_000)}`])
    await assert.rejects(workspace.exec(command), { code: 'workspace/bad-command' });
});

test('attack 80: a command has no terminal for TIOCSTI input', async (t) => {
  assert.match((await workspaceFor(t).exec('echo x > /dev/tty')).text, /dev\/tty/);
});

test('attack 84: no secret is passed to a command', async (t) => {
  const planted = { FAKE_API_KEY: 'a', MY_TOKEN: 'b', SSH_AUTH_SOCK: '/c', FAKE_URL: 'postgres://me:pw@host/db' };
  Object.assign(process.env, planted, { FAIRLEAD_HARMLESS: 'kept' });
  t.after(() => [...Object.keys(planted), 'FAIRLEAD_HARMLESS'].forEach((name) => delete process.env[name]));
  const { text } = await workspaceFor(t).exec('env');
  for (const name of Object.keys(planted)) assert.ok(!text.includes(`${name}=`), name);
  assert.match(text, /^FAIRLEAD_HARMLESS=kept$/m);
});

test('attack 84: names and values of secrets are distinguished from others', () => {
  const secret =
    'OPENAI_API_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN npm_config__authToken DB_PASSWORD GPG_PASSPHRASE GOOGLE_APPLICATION_CREDENTIALS SESSION_COOKIE SENTRY_DSN AZURE_PAT SMTP_PASS PGPASS PGPASSFILE PGPASSWORD DBPASS MYSQL_PWD APP_CONNECTION_STRING ConnectionStrings MY_JWT';
  for (const name of secret.split(' ')) assert.ok(isSecretVariable(name, 'x'), name);
  for (const name of 'PATH HOME PWD OLDPWD LANG KEYBOARD_LAYOUT TERM AUTHOR PATTERN EDITOR GIT_ASKPASS SSH_ASKPASS COMPASSION PATH_EXT DATABASE_URL'.split(
    ' ',
  ))
    assert.ok(!isSecretVariable(name, 'x'), name);
  for (const value of [
    'sk-abc',
    'ghp_abc',
    'https://user:pw@example.test/x',
    'redis://:pw@example.test',
    'https://0123456789abcdef0123@example.test/1',
    'Server=db;User Id=me;Password=pw;',
    'postgres://example.test/db?user=me&password=pw',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    '-----BEGIN PRIVATE',
  ])
    assert.ok(isSecretVariable('X', value), value);
  for (const value of [
    'http://127.0.0.1:8080/a:b',
    'ssh://git@example.test/x',
    'asia-east1',
    'postgres://localhost/db',
  ])
    assert.ok(!isSecretVariable('X', value), value);
});
