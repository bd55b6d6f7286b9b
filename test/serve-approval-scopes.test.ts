// The scopes of an answer over HTTP: what is offered for a call, what an answer allows from then on, and which keys may keep a permission for the project.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalScope, FleetRun } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { createFileScope } from './support/file-scope.ts';
import { startServe, type ServeReply, type TestServe } from './support/serve-client.ts';

const ownerKey = 'a-key-of-the-owner-of-this-server';
const runnerKey = 'a-key-of-a-runner-of-this-server';
const tenantKey = 'a-key-of-an-operator-of-a-tenant';

type Server = TestServe & {
  /** Starts a run and returns it once it has ended or waits. */
  readonly settled: (key: string, body: Record<string, unknown>) => Promise<FleetRun>;
  /** Waits until a run has ended, or waits for a call other than this one. */
  readonly settledAfter: (id: string, call?: string) => Promise<FleetRun>;
};

const keys = { HARNESS_API_KEY: ownerKey, HARNESS_API_KEYS: `runner:${runnerKey},operator@acme:${tenantKey}` };

async function startServer(
  t: Pick<TestContext, 'after'>,
  program: TestProgram,
  args: readonly string[] = [],
): Promise<Server> {
  const server = await startServe(t, program, keys, args);
  const { send, printed } = server;
  const settledAfter: Server['settledAfter'] = async (id, call) => {
    for (const end = Date.now() + 25_000; Date.now() < end; await pause(50)) {
      const run = (await send(ownerKey, `GET /api/runs/${id}`)).body['run'] as FleetRun;
      if (run.status === 'ended') return run;
      if (run.status === 'waiting' && run.pendingApprovals.some((each) => each.call !== call)) return run;
    }
    throw new Error(`${id} does not end: ${printed()}`);
  };
  return {
    ...server,
    settledAfter,
    async settled(key, body) {
      const begun = await send(key, 'POST /api/runs', body);
      const { id } = (begun.body['run'] ?? assert.fail(JSON.stringify(begun))) as FleetRun;
      return settledAfter(id);
    },
  };
}

type Approval = {
  readonly run: string;
  readonly session: string;
  readonly pendingApprovals: readonly { readonly call: string; readonly scopes?: readonly ApprovalScope[] }[];
};

const listApprovals = async ({ send }: Server, key: string): Promise<readonly Approval[]> =>
  (await send(key, 'GET /api/approvals')).body['approvals'] as readonly Approval[];

const scopesOf = async (server: Server, key: string): Promise<readonly string[]> =>
  ((await listApprovals(server, key))[0]?.pendingApprovals[0]?.scopes ?? []).map(({ scope }) => scope);

/** Answers the first pending call of a run. */
async function answer(
  { send }: Server,
  key: string,
  { session, pendingApprovals: [question] }: FleetRun,
  body: Record<string, unknown>,
): Promise<ServeReply> {
  return send(key, `POST /api/sessions/${session}/answer`, { call: question?.call, ...body });
}

/** A program whose model writes a file for each word of the prompt, one after the other, and then reports the last result. */
async function createEditingProgram(t: Pick<TestContext, 'after'>): Promise<TestProgram> {
  const written = new Set<string>();
  const program = await createProgram(t, ({ prompt, results }) => {
    const file = prompt.split(' ').find((each) => !written.has(each));
    if (file === undefined) return says(results.at(-1) ?? '');
    written.add(file);
    return calls('write_file', { path: file, content: 'made\n' });
  });
  await program.seedModels('qwen3');
  return program;
}

const ofFile = createFileScope();

type Served = { readonly program: TestProgram; readonly server: Server };
let localServer: Promise<Served> | undefined;
let publicServer: Promise<Served & { readonly provider: string }> | undefined;

/** A server for tests that leave nothing behind; the repository that it works in has files that must not grant anything. */
async function startLocalServer(): Promise<Served> {
  const program = await createEditingProgram(ofFile);
  const text = `projects:\n  ${JSON.stringify(realpathSync(program.cwd))}:\n    - edits: true\n`;
  for (const folder of ['.', '.fairlead', '.config/fairlead']) {
    mkdirSync(path.join(program.cwd, folder), { recursive: true });
    writeFileSync(path.join(program.cwd, folder, 'permissions.yaml'), text);
  }
  return { program, server: await startServer(ofFile, program) };
}

/** A server that other machines can reach, with a default model whose name begins with its provider. */
async function startPublicServer(): Promise<Served & { readonly provider: string }> {
  const program = await createEditingProgram(ofFile);
  const [listed] = readFileSync(program.state('models.jsonl'), 'utf8').split('\n');
  const { provider } = JSON.parse(listed ?? '') as { readonly provider: string };
  const args = ['--host', '0.0.0.0', '--model', `${provider}/qwen3`];
  return { program, provider, server: await startServer(ofFile, program, args) };
}

test('[A41] a pending approval over HTTP lists its scopes with labels, and a scope of the session covers later calls of that session only', async (t) => {
  const program = await createEditingProgram(t);
  const server = await startServer(t, program);
  const run = await server.settled(ownerKey, { prompt: 'a.txt b.txt .env' });
  assert.match(
    server.printed(),
    new RegExp(`^${run.id} waits for approval: http://127\\.0\\.0\\.1:\\d+/#/runs/${run.id}$`, 'm'),
  );
  const [approval] = await listApprovals(server, ownerKey);
  assert.deepEqual(approval?.pendingApprovals[0]?.scopes, [
    { scope: 'once', label: 'Yes, once' },
    {
      scope: 'call-session',
      label: 'Yes, and any content for /…/a.txt in this session',
      duration: 'session',
    },
    {
      scope: 'edits-session',
      label: 'Yes, and allow edits and new files in this folder in this session',
      duration: 'session',
    },
    {
      scope: 'edits-project',
      label: 'Yes, and allow edits and new files in this folder in this project, kept',
      duration: 'project',
    },
  ]);
  assert.equal((await answer(server, ownerKey, run, { allowed: true, scope: 'edits-session' })).status, 202);
  // The second edit is covered; the file with secrets is not.
  const after = await server.settledAfter(run.id, run.pendingApprovals[0]?.call);
  assert.match(after.pendingApprovals[0]?.question ?? '', /\.env/);
  assert.equal(readFileSync(path.join(program.cwd, 'b.txt'), 'utf8'), 'made\n');
  await answer(server, ownerKey, after, { allowed: false });
  await server.settledAfter(run.id, after.pendingApprovals[0]?.call);
  // A later run of the session is covered too; a fork and another session are not.
  const again = await server.settled(ownerKey, { prompt: 'c.txt', session: run.session });
  assert.equal(again.status, 'ended');
  assert.equal(readFileSync(path.join(program.cwd, 'c.txt'), 'utf8'), 'made\n');
  const fork = (await server.send(ownerKey, `POST /api/sessions/${run.session}/fork`, {})).body['session'];
  assert.equal((await server.settled(ownerKey, { prompt: 'd.txt', session: fork })).status, 'waiting');
  assert.equal((await server.settled(ownerKey, { prompt: 'e.txt' })).status, 'waiting');
  assert.ok(!existsSync(program.config('permissions.yaml')), 'nothing is kept for the project');
});

test('[A41] a session grant holds after the server was restarted, and not in another folder', async (t) => {
  const program = await createEditingProgram(t);
  mkdirSync(path.join(program.cwd, 'inside'));
  const server = await startServer(t, program);
  const run = await server.settled(ownerKey, { prompt: 'a.txt' });
  await answer(server, ownerKey, run, { allowed: true, scope: 'edits-session' });
  assert.equal((await server.settledAfter(run.id, run.pendingApprovals[0]?.call)).status, 'ended');
  await server.stop();
  const second = await startServer(t, program);
  assert.equal((await second.settled(ownerKey, { prompt: 'b.txt', session: run.session })).status, 'ended');
  assert.equal(readFileSync(path.join(program.cwd, 'b.txt'), 'utf8'), 'made\n');
  const elsewhere = await second.settled(ownerKey, { prompt: 'c.txt', session: run.session, folder: 'inside' });
  assert.equal(elsewhere.status, 'waiting');
});

test('[A41] an answer that names a scope that is not offered is 400 and names the field; a typed reply denies the call and reaches the model', async () => {
  const { program, server } = await (localServer ??= startLocalServer());
  const run = await server.settled(ownerKey, { prompt: 'a.txt' });
  const refusals = [
    [{ allowed: true, scope: 'command-session' }, 'scope'],
    [{ allowed: true, scope: 'everything' }, 'scope'],
    [{ allowed: false, scope: 'edits-session' }, 'scope'],
    [{ allowed: true, reply: 'Do it.' }, 'reply'],
    [{ allowed: false, reply: ' ' }, 'reply'],
  ] as const;
  for (const [body, field] of refusals) {
    const refused = await answer(server, ownerKey, run, body);
    assert.equal(refused.status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(refused.body), new RegExp(field));
  }
  const { body } = await answer(server, ownerKey, run, { allowed: true, scope: 'everything' });
  assert.match(JSON.stringify(body), /Offered: once, call-session, edits-session, edits-project/);
  await answer(server, ownerKey, run, { allowed: false, reply: 'Write it to docs instead.' });
  const { outcome } = await server.settledAfter(run.id, run.pendingApprovals[0]?.call);
  assert.match(outcome?.text ?? '', /Write it to docs instead\./);
  assert.ok(!existsSync(path.join(program.cwd, 'a.txt')));
});

test('[A41] only the owner of a local server can keep a permission for the project; then new sessions are covered, until it is revoked', async (t) => {
  const program = await createEditingProgram(t);
  const server = await startServer(t, program);
  const run = await server.settled(ownerKey, { prompt: 'a.txt' });
  assert.deepEqual(await scopesOf(server, runnerKey), ['once', 'call-session', 'edits-session']);
  const refused = await answer(server, runnerKey, run, { allowed: true, scope: 'edits-project' });
  assert.equal(refused.status, 400);
  assert.equal((await answer(server, ownerKey, run, { allowed: true, scope: 'edits-project' })).status, 202);
  await server.settledAfter(run.id, run.pendingApprovals[0]?.call);
  const file = readFileSync(program.config('permissions.yaml'), 'utf8');
  assert.ok(file.includes(realpathSync(program.cwd)) && file.includes('edits: true'), file);
  assert.equal((await server.settled(runnerKey, { prompt: 'b.txt' })).status, 'ended');
  // What the user allowed is not for the runs of other tenants.
  assert.equal((await server.settled(tenantKey, { prompt: 'c.txt' })).status, 'waiting');
  const revoked = await program.run(['permissions', 'revoke', 'all']);
  assert.equal(revoked.code, 0, revoked.err);
  assert.equal((await server.settled(ownerKey, { prompt: 'd.txt' })).status, 'waiting');
});

test('[A41] a server that other machines can reach offers scopes of the session only', async () => {
  const { server } = await (publicServer ??= startPublicServer());
  const run = await server.settled(ownerKey, { prompt: 'a.txt' });
  assert.deepEqual(await scopesOf(server, ownerKey), ['once', 'call-session', 'edits-session']);
  assert.equal((await answer(server, ownerKey, run, { allowed: true, scope: 'edits-project' })).status, 400);
});

test('[A41] a permissions.yaml in the repository that a run works in grants nothing', async () => {
  const { server } = await (localServer ??= startLocalServer());
  assert.equal((await server.settled(ownerKey, { prompt: 'granted-by-repository.txt' })).status, 'waiting');
});

test('[A41] a session grant answers the other pending calls that it covers', async (t) => {
  let turn = 0;
  const both = ['a.txt', 'b.txt', '.env'].map((file) => calls('write_file', { path: file, content: 'made\n' }));
  const program = await createProgram(t, () => (turn++ === 0 ? both : says('done')));
  await program.seedModels('qwen3');
  const server = await startServer(t, program);
  const run = await server.settled(ownerKey, { prompt: 'write them' });
  assert.equal(run.pendingApprovals.length, 3);
  await answer(server, ownerKey, run, { allowed: true, scope: 'edits-session' });
  await waitUntil('the covered call has run', () => existsSync(path.join(program.cwd, 'b.txt')), 20_000);
  let left = 3;
  for (const end = Date.now() + 20_000; left !== 1 && Date.now() < end; await pause(100))
    left = (await listApprovals(server, ownerKey))[0]?.pendingApprovals.length ?? 0;
  assert.equal(left, 1, 'one question is left');
  assert.ok(!existsSync(path.join(program.cwd, '.env')));
});

test('the list of models has the default once, also if its name begins with its provider', async () => {
  const { server, provider } = await (publicServer ??= startPublicServer());
  const { models } = (await server.send(ownerKey, 'GET /api/options')).body;
  assert.deepEqual(models, [`${provider}/qwen3`, 'tiny']);
});
