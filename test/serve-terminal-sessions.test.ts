// Which keys see the sessions of the user's terminal on a server, and what they may do with them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { noTerminal } from './support/terminal.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { createFileScope } from './support/file-scope.ts';
import { startServe, type SendToServe, type ServeReply } from './support/serve-client.ts';

const ownerKey = 'a-key-of-the-owner-of-this-server';
const otherKeys = {
  operator: 'a-key-of-another-operator',
  runner: 'a-key-of-a-runner',
  reader: 'a-key-of-a-reader',
  tenant: 'a-key-of-an-operator-of-a-tenant',
} as const;

const keys = {
  HARNESS_API_KEY: ownerKey,
  HARNESS_API_KEYS: `operator:${otherKeys.operator},runner:${otherKeys.runner},reader:${otherKeys.reader},operator@acme:${otherKeys.tenant}`,
};

const startServer = async (
  t: Pick<TestContext, 'after'>,
  program: TestProgram,
  args: readonly string[] = [],
): Promise<SendToServe> => (await startServe(t, program, keys, args)).send;

type Listed = { readonly session: string; readonly source: string; readonly title?: string; readonly folder?: string };
const sessionsOf = ({ body }: ServeReply): readonly Listed[] => body['sessions'] as readonly Listed[];

async function recordTerminalSession(t: Pick<TestContext, 'after'>): Promise<TestProgram> {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  await program.run(['-p', 'a secret of the terminal', '-n', 'private-talk']);
  return program;
}

const ofFile = createFileScope();
let sharedProgram: Promise<TestProgram> | undefined;
let sharedServer: Promise<SendToServe> | undefined;

/** A program with a session of the terminal, for tests that add no session. */
const getProgram = (): Promise<TestProgram> => (sharedProgram ??= recordTerminalSession(ofFile));
const getServer = async (): Promise<SendToServe> => (sharedServer ??= startServer(ofFile, await getProgram()));

test('[A97] the owner of a local server sees the sessions of the terminal in the list, reads one and copies it; the original is not changed', async (t) => {
  const program = await recordTerminalSession(t);
  const send = await startServer(t, program);
  const [listed, ...more] = sessionsOf(await send(ownerKey, 'GET /api/sessions?source=all'));
  assert.deepEqual(more, []);
  assert.equal(listed?.source, 'terminal');
  assert.equal(listed.title, 'private-talk');
  assert.equal(listed.folder, program.cwd);
  const before = program.session('private-talk');
  const read = await send(ownerKey, `GET /api/terminal-sessions/${listed.session}`);
  assert.match(JSON.stringify(read.body['events']), /You said: a secret of the terminal/);
  const request = await send(ownerKey, `GET /api/terminal-sessions/${listed.session}/requests/1`);
  assert.match(JSON.stringify(request.body['messages']), /a secret of the terminal/);
  const copied = await send(ownerKey, `POST /api/terminal-sessions/${listed.session}/copy`, {});
  assert.equal(copied.status, 201, JSON.stringify(copied.body));
  const [copy] = sessionsOf(await send(ownerKey, 'GET /api/sessions'));
  assert.deepEqual([copy?.session, copy?.source, copy?.title], [copied.body['session'], 'server', 'private-talk']);
  const run = await send(ownerKey, 'POST /api/runs?wait=20', { prompt: 'go on', session: copy?.session });
  assert.match(JSON.stringify(run.body), /You said: go on/);
  assert.equal(program.session('private-talk'), before);
});

test('[A97] the owner changes the title of a session of the terminal, and the terminal shows it', async () => {
  const program = await getProgram();
  const send = await getServer();
  const id = sessionsOf(await send(ownerKey, 'GET /api/sessions?source=all'))[0]?.session ?? assert.fail();
  const put = (title: string): Promise<ServeReply> =>
    send(ownerKey, `PUT /api/terminal-sessions/${id}/title`, { title });
  assert.equal((await put('  ')).status, 400);
  assert.equal((await put('The talk of Tuesday')).status, 200);
  assert.equal(sessionsOf(await send(ownerKey, 'GET /api/sessions?source=all'))[0]?.title, 'The talk of Tuesday');
  assert.match((await program.run(['sessions', 'list'])).out, /The talk of Tuesday/);
  assert.equal((await program.run(['sessions', 'verify'])).code, 0);
  // The name of the file, by which it is resumed, stays.
  assert.match(program.session('private-talk'), /The talk of Tuesday/);
  assert.equal((await send(ownerKey, 'PUT /api/terminal-sessions/none/title', { title: 'x' })).status, 404);
});

test('[A97] no other key sees the sessions of the terminal: not another operator, a runner, a reader or a tenant', async () => {
  const send = await getServer();
  const id = sessionsOf(await send(ownerKey, 'GET /api/sessions?source=all'))[0]?.session ?? assert.fail();
  for (const [name, key] of Object.entries(otherKeys)) {
    assert.equal((await send(key, 'GET /api/options')).body['terminalSessions'], false, name);
    for (const source of ['all', 'terminal', 'server'])
      assert.deepEqual(sessionsOf(await send(key, `GET /api/sessions?source=${source}`)), [], name);
    for (const request of [
      `GET /api/terminal-sessions/${id}`,
      `GET /api/terminal-sessions/${id}/requests/1`,
      `GET /api/sessions/${id}`,
      `POST /api/terminal-sessions/${id}/copy`,
      `PUT /api/terminal-sessions/${id}/title`,
    ]) {
      const given = request.startsWith('PUT') ? { title: 'taken over' } : {};
      const { status, body } = await send(key, request, request.startsWith('GET') ? undefined : given);
      assert.ok(status === 403 || status === 404, `${name} ${request}: ${status}`);
      assert.doesNotMatch(JSON.stringify(body), /a secret of the terminal/);
    }
  }
});

test('[A97] on a server that other machines may reach, no key sees the sessions of the terminal', async (t) => {
  const program = await getProgram();
  for (const args of [
    ['--allowed-host', 'fleet.example'],
    ['--host', '0.0.0.0'],
  ]) {
    const send = await startServer(t, program, args);
    assert.deepEqual(sessionsOf(await send(ownerKey, 'GET /api/sessions?source=all')), []);
    assert.equal((await send(ownerKey, 'GET /api/options')).body['terminalSessions'], false);
  }
});

test(
  '[A97] serve prints a link with the key at each start in a terminal, and no key elsewhere',
  { skip: noTerminal() },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    for (let start = 1; start <= 2; start++) {
      const terminal = await program.open(['serve', '--port', '0'], { columns: 200 });
      const shown = await terminal.waitFor(/Control at/, 30_000);
      assert.ok(
        shown.includes(`/#key=${readFileSync(program.state('server-token'), 'utf8').trim()}`),
        `start ${start}`,
      );
      await terminal.kill();
    }
    const piped = program.start(['serve', '--port', '0']);
    t.after(() => piped.kill('SIGKILL'));
    await waitUntil('it listens', () => /Control at/.test(piped.err()), 30_000);
    assert.ok(!piped.err().includes(readFileSync(program.state('server-token'), 'utf8').trim()));
  },
);
