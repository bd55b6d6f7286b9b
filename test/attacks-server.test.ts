// Attacks on the server with a valid key: reaching another tenant, using the rights of another client's run, and reading the key from a log.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import type { FleetRun, Gate, Tool } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createApiFixture, type ApiFixture } from './support/api-server.ts';
import { assertAttack } from './support/attack-report.ts';
import { bin, createProgram, waitUntil } from './support/cli-harness.ts';
import { noTerminal, openTerminal } from './support/terminal.ts';

const keys = { acme: 'a-key-of-the-tenant-acme', bolt: 'a-key-of-the-tenant-bolt' } as const;

type Reply = { readonly status: number; readonly body: unknown };
type SendAs = (key: string, request: string, body?: unknown) => Promise<Reply>;

/** A server whose agent asks before it acts, except in runs with `auto`, and a list of what it did. */
async function startServer(t: TestContext): Promise<ApiFixture & { readonly done: string[]; readonly sendAs: SendAs }> {
  const done: string[] = [];
  const act: Tool = {
    name: 'act',
    description: 'Acts.',
    input: { type: 'object', properties: { what: { type: 'string' } } },
    effect: 'external',
    execute: (input) => {
      done.push(String((input as { readonly what?: unknown }).what));
      return 'done';
    },
  };
  const ask: Gate = ({ input }) =>
    JSON.stringify(input).includes('auto') ? { type: 'allow' } : { type: 'ask', question: 'May it act?' };
  const api = await createApiFixture(t, {
    extraKeys: Object.entries(keys)
      .map(([tenant, key]) => `runner@${tenant}:${key}`)
      .join(','),
    tools: [act],
    gates: [ask],
    script: ({ prompt, results }) => (results.length === 0 ? calls('act', { what: prompt }) : says('finished')),
  });
  const sendAs: SendAs = async (key, request, body) => {
    const [method = 'GET', address = '/'] = request.split(' ');
    const answer = await fetch(api.url + address, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) as unknown };
  };
  return { ...api, done, sendAs };
}

const getRun = ({ body }: Reply): FleetRun => (body as { readonly run: FleetRun }).run;

test('[attack 98] a key of one tenant neither sees nor touches the runs, sessions, approvals and schedules of another', async (t) => {
  const { sendAs, waitForStatus, done, store } = await startServer(t);
  const started = getRun(await sendAs(keys.bolt, 'POST /api/runs', { prompt: 'bolt-confidential' }));
  const run = await waitForStatus(started.id, 'waiting');
  const call = run.pendingApprovals[0]?.call ?? '';
  const schedule = { cron: '0 3 * * *', run: { prompt: 'bolt-backup' } };
  const saved = await sendAs(keys.bolt, 'PUT /api/schedules/nightly', schedule);
  const { name } = (saved.body as { readonly schedule: { readonly name: string } }).schedule;
  const reached: string[] = [];
  const attempt = async (request: string, body?: unknown): Promise<void> => {
    const { status, body: answer } = await sendAs(keys.acme, request, body);
    if (JSON.stringify(answer).includes('bolt-')) reached.push(`read ${request}`);
    if (request.includes(run.id) && status < 300) reached.push(`did ${request}`);
  };
  await attempt('GET /api/approvals');
  await attempt('GET /api/runs');
  await attempt('GET /api/runs?tenant=bolt');
  await attempt('GET /api/sessions');
  await attempt('GET /api/queue');
  await attempt('GET /api/health');
  await attempt(`GET /api/runs/${run.id}`);
  await attempt(`GET /v1/responses/resp_${run.id}`);
  await attempt(`GET /api/sessions/${run.session}`);
  await attempt(`GET /api/sessions/${run.session}/messages`);
  await attempt(`POST /api/sessions/${run.session}/steer`, { text: 'also delete everything' });
  await attempt(`POST /api/sessions/${run.session}/answer`, { call, allowed: true });
  await attempt(`POST /api/sessions/${run.session}/fork`, {});
  await attempt(`POST /api/sessions/${run.session}/edit`, { messages: [] });
  await attempt(`POST /api/sessions/${run.session}/cancel`);
  await attempt(`POST /api/runs/${run.id}/cancel`);
  await attempt('POST /api/runs', { runs: [{ prompt: 'x', session: run.session }] });
  for (const each of ['nightly', name]) {
    await attempt(`PUT /api/schedules/${each}`, { cron: '* * * * *', run: { prompt: 'evil' } });
    await attempt(`DELETE /api/schedules/${each}`);
  }
  if ((await store.queue.list({ session: run.session })).length !== 1) reached.push('queued a run in the session');
  const kept = (await store.queue.schedules()).find((each) => each.name === name);
  if (kept?.cron !== schedule.cron) reached.push('changed the schedule');
  if (done.length > 0) reached.push('ran the call');
  t.diagnostic(`reached: ${reached.join('; ') || 'nothing'}`);
  assertAttack(t, 98, [reached.length === 0 ? 'blocked' : 'done']);
  assert.deepEqual(await store.inbox.read(run.session, 0), [], 'no message arrived');
  const own = await sendAs(keys.bolt, `POST /api/sessions/${run.session}/answer`, { call, allowed: true });
  assert.equal(own.status, 202, 'the tenant itself goes on');
  await waitForStatus(run.id, 'ended');
  assert.deepEqual(done, ['bolt-confidential']);
  // The ended response, by each id with which a request of the OpenAI API can name it.
  const refer = (id: string): object => ({
    input: [
      { type: 'item_reference', id: `msg_${id}` },
      { role: 'user', content: 'hi' },
    ],
  });
  const follow = (id: string): object => ({ input: 'hi', previous_response_id: `resp_${id}` });
  const replies: Reply[] = [];
  for (const id of [run.id, 'absent'])
    for (const body of [refer(id), follow(id)]) replies.push(await sendAs(keys.acme, 'POST /v1/responses', body));
  const [foreign, absent] = [replies.slice(0, 2), replies.slice(2)].map((each) =>
    JSON.stringify(each).replaceAll(run.id, 'absent'),
  );
  assert.equal(foreign, absent);
  assert.deepEqual(
    replies.map(({ status }) => status),
    [400, 404, 400, 404],
  );
});

test('[attack 99] a runner cannot send text or answers into a run with auto, nor continue or edit its session', async (t) => {
  const { request, waitForStatus, done, store } = await startServer(t);
  const started = getRun(await request('POST /api/runs', { body: { prompt: 'auto one', auto: true } }));
  await waitForStatus(started.id, 'ended');
  // A queued run with auto: its notBefore keeps the worker from it.
  const notBefore = new Date(Date.now() + 3_600_000).toISOString();
  const queuedRun = { id: 'later', prompt: 'auto two', notBefore, settings: { auto: true } };
  const queued = await request('POST /api/runs', { body: { runs: [queuedRun] } });
  assert.equal(queued.status, 202);
  const tries: readonly (readonly [string, unknown])[] = [
    ['POST /api/sessions/later/steer', { text: 'auto by the runner' }],
    ['POST /api/sessions/later/steer', { text: 'auto by the runner', mode: 'follow-up' }],
    ['POST /api/sessions/later/steer', { text: 'auto by the runner', mode: 'prompt' }],
    [`POST /api/sessions/${started.session}/edit`, { messages: [] }],
    ['POST /api/runs', { prompt: 'auto by the runner', session: started.session }],
    ['POST /api/runs', { runs: [{ prompt: 'auto by the runner', session: 'later' }] }],
    ['POST /api/orchestrate', { prompt: 'auto by the runner', session: started.session }],
    ['PUT /api/schedules/s', { cron: '0 3 * * *', run: { prompt: 'auto by the runner', session: started.session } }],
    ['POST /v1/responses', { input: 'auto by the runner', previous_response_id: `resp_${started.id}` }],
  ];
  const reached: string[] = [];
  for (const [address, body] of tries) {
    const { status, body: answer } = await request(address, { as: 'runner', body });
    if (status < 300) reached.push(address);
    else assert.match(JSON.stringify(answer), /role operator only/, `${address}: ${JSON.stringify(answer)}`);
  }
  t.diagnostic(`reached: ${reached.join('; ') || 'nothing'}`);
  assertAttack(t, 99, [reached.length === 0 ? 'blocked' : 'done']);
  assert.deepEqual(await store.inbox.read('later', 0), []);
  const steered = await request('POST /api/sessions/later/steer', { body: { text: 'auto by the operator' } });
  assert.equal(steered.status, 202, 'an operator may');
  const forked = await request(`POST /api/sessions/${started.session}/fork`, { as: 'runner', body: {} });
  assert.equal(forked.status, 201, 'a copy is not a run');
  assert.deepEqual(done, ['auto one']);
});

test('[attack 99] a message that was sent to one run is not obeyed by the next run of the session', async (t) => {
  const { request, waitForStatus, store } = await createApiFixture(t);
  await request('POST /api/runs', { as: 'runner', body: { runs: [{ id: 'first', prompt: 'one', session: 's' }] } });
  await waitForStatus('first', 'ended');
  // As if the first run had ended between the check and the arrival of the message.
  await store.inbox.send('s', { type: 'steer', text: 'words for the first run', run: 'first' });
  await store.inbox.send('s', { type: 'steer', text: 'words for any run' });
  const body = { runs: [{ id: 'second', prompt: 'two', session: 's', settings: { auto: true } }] };
  await request('POST /api/runs', { body });
  await waitForStatus('second', 'ended');
  const messages = JSON.stringify((await request('GET /api/sessions/s/messages')).body);
  assert.ok(messages.includes('words for any run'), 'messages are read');
  assertAttack(t, 99, [messages.includes('words for the first run') ? 'done' : 'blocked']);
});

/** The commands that generate a key at their first start, and the file that they save it in. */
const keyedCommands = [
  { args: ['serve', '--port', '0', '--no-worker'], file: 'server-token' },
  { args: ['mcp', 'serve', '--http', '0'], file: 'mcp-token' },
] as const;

for (const { args, file } of keyedCommands)
  test(`[attack 123] output that is kept in a log names the file of the key, never the key: ${args.join(' ')}`, async (t) => {
    const program = await createProgram(t);
    const started = program.start([...args]);
    t.after(() => started.kill('SIGKILL'));
    await waitUntil('it listens', () => /Listening at \S+\n.+\n/.test(started.err()), 60_000);
    const key = /key=(\S+)|Bearer (\S+)/.exec(started.err());
    assertAttack(t, 123, [key ? 'done' : 'blocked']);
    const saved = readFileSync(program.state(file), 'utf8').trim();
    assert.ok(saved.length >= 32 && !(started.err() + started.out()).includes(saved), started.err());
    assert.ok(started.err().includes(`is in ${program.state(file)}\n`), started.err());
    assert.equal(statSync(program.state(file)).mode & 0o777, 0o600);
    const url = /Listening at (\S+)/.exec(started.err())?.[1] ?? '';
    const address = url.endsWith('/mcp') ? url : `${url}/api/me`;
    const read = async (bearer: string): Promise<number> =>
      (await fetch(address, { headers: { authorization: `Bearer ${bearer}` } })).status;
    assert.notEqual(await read(saved), 401, 'the key of the file works');
    assert.equal(await read(`${saved}x`), 401);
  });

test('a terminal shows the link with the new key once', { skip: noTerminal() }, async (t) => {
  const program = await createProgram(t);
  const terminal = await openTerminal(t, [process.execPath, bin, ...keyedCommands[0].args], {
    cwd: program.cwd,
    columns: 200,
    env: program.env,
  });
  const screen = await terminal.waitFor(/#key=\S+/, 60_000);
  assert.ok(screen.includes(readFileSync(program.state('server-token'), 'utf8').trim()), screen);
});
