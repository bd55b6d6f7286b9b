// Tests of runs over HTTP: start, wait, list, steer, cancel.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun, Tool } from '../../../core/index.ts';
import { calls, says } from '../../../testing/index.ts';
import { createApiFixture, type ApiReply } from '../../../../test/support/api-server.ts';

const getRun = ({ body }: ApiReply): FleetRun => (body as { readonly run: FleetRun }).run;

test('[A88] a POST starts a run and returns at once, or waits if the client prefers that', async (t) => {
  const { request, waitForStatus } = await createApiFixture(t);
  const begun = await request('POST /api/runs', { as: 'runner', body: { prompt: 'hello' } });
  assert.equal(begun.status, 202);
  const { stream } = begun.body as { readonly stream: string };
  assert.equal(stream, `/api/stream?run=${getRun(begun).id}`);
  const ended = await waitForStatus(getRun(begun).id, 'ended');
  assert.equal(ended.outcome?.text, 'You said: hello');
  const waited = await request('POST /api/runs', {
    as: 'runner',
    body: { prompt: 'again' },
    headers: { prefer: 'wait=20' },
  });
  assert.equal(waited.status, 200);
  assert.equal(getRun(waited).outcome?.text, 'You said: again');
  const listed = (await request('GET /api/runs?status=ended&limit=1')).body as { readonly runs: readonly FleetRun[] };
  assert.deepEqual(
    listed.runs.map(({ prompt }) => prompt),
    ['again'],
  );
  assert.equal(getRun(await request(`GET /api/runs/${ended.id}`)).id, ended.id);
});

test('[A88] a wait that ends before the run returns the current state of the run', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const reply = await request('POST /api/runs', { body: { prompt: 'hello' }, headers: { prefer: 'wait=0' } });
  assert.equal(reply.status, 202);
  assert.equal(getRun(reply).status, 'queued');
});

test('[A88] the same Idempotency-Key returns the same run, which is not run twice', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  const headers = { 'idempotency-key': 'one-and-the-same' };
  const first = await request('POST /api/runs', { body: { prompt: 'hello' }, headers });
  const second = await request('POST /api/runs', { body: { prompt: 'hello' }, headers });
  assert.equal(getRun(first).id, 'one-and-the-same');
  assert.equal(getRun(second).id, 'one-and-the-same');
  assert.equal((await store.queue.list()).length, 1);
  const strange = await request('POST /api/runs', {
    body: { prompt: 'x' },
    headers: { 'idempotency-key': '../../etc' },
  });
  assert.equal(strange.status, 400);
});

test('[A89] [A90] [A91] plans, verifications and lists of runs are queued with their prompts and settings', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const plan = getRun(await request('POST /api/orchestrate', { body: { prompt: 'a big thing', model: 'm' } }));
  assert.equal(plan.kind, 'plan');
  assert.equal(plan.settings['model'], 'm');
  const verify = { prompt: 'is it so?', answer: 'yes', models: ['a', 'b'] };
  const examined = getRun(await request('POST /api/verify', { body: verify }));
  assert.equal(examined.kind, 'verify');
  assert.deepEqual([examined.settings['claim'], examined.settings['models']], ['yes', ['a', 'b']]);
  const many = Array.from({ length: 50 }, (_, i) => ({ id: `run-${i}`, prompt: `task ${i}`, tenant: 'acme' }));
  const queued = await request('POST /api/runs', { body: { runs: many } });
  assert.equal(queued.status, 202);
  await request('POST /api/runs', { body: { runs: many } });
  const { runs } = (await request('GET /api/runs?tenant=acme&limit=1000')).body as {
    readonly runs: readonly FleetRun[];
  };
  assert.equal(runs.length, 50);
  const { depth } = (await request('GET /api/queue')).body as { readonly depth: { readonly queued: number } };
  assert.equal(depth.queued, 52);
});

test('[A88] an unknown field is refused by its name, and no run is started', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  const tried: readonly (readonly [unknown, RegExp])[] = [
    [{ prompt: 'x', modle: 'y' }, /"modle"/],
    [{ prompt: 'x', limits: { turnz: 3 } }, /"limits\.turnz"/],
    [{ prompt: 'x', limits: { turns: -3 } }, /limits\.turns/],
    [{}, /prompt/],
    [{ prompt: 7 }, /prompt/],
    [[], /expected object/],
  ];
  for (const [body, told] of tried) {
    const reply = await request('POST /api/runs', { body });
    assert.equal(reply.status, 400);
    assert.match((reply.body as { readonly error: { readonly message: string } }).error.message, told);
  }
  assert.equal((await request('GET /api/runs?statuz=ended')).status, 400);
  assert.equal((await store.queue.list()).length, 0);
});

const sends: string[] = [];
const send: Tool = {
  name: 'send',
  description: 'Sends a letter.',
  input: { type: 'object', properties: { to: { type: 'string' } } },
  effect: 'external',
  execute: (input) => {
    sends.push((input as { readonly to: string }).to);
    return 'sent';
  },
};

test('[A92] a run that needs approval waits, is listed under approvals, and continues after the answer', async (t) => {
  const { request, waitForStatus } = await createApiFixture(t, {
    tools: [send],
    gates: [() => ({ type: 'ask', question: 'Send it?' })],
    script: ({ results }) => (results.length === 0 ? calls('send', { to: 'Ada' }) : says(`Done: ${results[0]}`)),
  });
  const { id, session } = getRun(await request('POST /api/runs', { body: { prompt: 'write to Ada' } }));
  await waitForStatus(id, 'waiting');
  const { approvals } = (await request('GET /api/approvals')).body as {
    readonly approvals: readonly {
      readonly run: string;
      readonly pendingApprovals: readonly { call: string; input: unknown }[];
    }[];
  };
  assert.equal(approvals[0]?.run, id);
  const [question] = approvals[0].pendingApprovals;
  assert.deepEqual(question?.input, { to: 'Ada' });
  const { call } = question;
  for (const wrong of [{ call: 'other' }, { call, question: 'Read it?' }])
    assert.equal(
      (await request(`POST /api/sessions/${session}/answer`, { body: { ...wrong, allowed: true } })).status,
      409,
    );
  assert.equal(sends.length, 0);
  const answered = await request(`POST /api/sessions/${session}/answer`, {
    as: 'runner',
    body: { call, question: 'Send it?', allowed: true },
  });
  assert.equal(answered.status, 202);
  const { outcome } = await waitForStatus(id, 'ended');
  assert.equal(outcome?.text, 'Done: sent');
  assert.deepEqual(sends, ['Ada']);
});

test('[A92] an active run is steered and cancelled, and an idle session can be continued', async (t) => {
  const gate = Promise.withResolvers<void>();
  const wait: Tool = {
    name: 'wait',
    description: 'Waits.',
    input: { type: 'object' },
    effect: 'read',
    execute: async (_, { signal }) => {
      await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      return 'waited';
    },
  };
  const { request, waitForStatus } = await createApiFixture(t, {
    tools: [wait],
    script: ({ results, prompt }) => (results.length === 0 ? calls('wait', {}) : says(`Heard: ${prompt}`)),
  });
  const { id, session } = getRun(await request('POST /api/runs', { body: { prompt: 'begin' } }));
  await waitForStatus(id, 'running');
  const twice = await request('POST /api/runs', { body: { prompt: 'too soon', session } });
  assert.equal(twice.status, 409);
  assert.equal((await request(`POST /api/sessions/${session}/steer`, { body: { text: 'and hurry' } })).status, 202);
  gate.resolve();
  const { outcome } = await waitForStatus(id, 'ended');
  assert.match(outcome?.text ?? '', /and hurry/);
  assert.equal((await request(`POST /api/sessions/${session}/steer`, { body: { text: 'late' } })).status, 409);
  const next = getRun(await request('POST /api/runs', { body: { prompt: 'go on', session } }));
  assert.equal((await waitForStatus(next.id, 'ended')).session, session);
});

test('[A92] a run without a worker is cancelled at once', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const { id } = getRun(await request('POST /api/runs', { body: { prompt: 'hello' } }));
  const ended = getRun(await request(`POST /api/runs/${id}/cancel`, { as: 'runner' }));
  assert.equal(ended.status, 'ended');
  assert.equal(ended.outcome?.reason, 'cancelled');
  assert.equal((await request('POST /api/runs/absent/cancel')).status, 404);
});

test('[A89, A92] messages and answers to a plan or a verification are refused with an error, and a cancel ends it with its child runs', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  for (const [path, a] of [
    ['/api/orchestrate', 'a plan'],
    ['/api/verify', 'a verification'],
  ] as const) {
    const { id, session } = getRun(await request(`POST ${path}`, { body: { prompt: 'a big thing' } }));
    await store.queue.enqueue([{ id: `${id}/part`, prompt: 'a small thing', parent: id }]);
    for (const [route, body] of [
      ['steer', { text: 'Leave the tests alone' }],
      ['answer', { call: 'call-1', allowed: true }],
    ] as const) {
      const { status, body: said } = await request(`POST /api/sessions/${session}/${route}`, { body });
      const { error } = said as { readonly error: { readonly message: string; readonly hint: string } };
      assert.deepEqual([status, error.message], [409, `${id} is ${a} run and does not accept messages.`]);
      assert.match(error.hint, new RegExp(`${id}/part`));
    }
    assert.deepEqual(await store.inbox.read(session, 0), []);
    assert.equal((await request(`POST /api/sessions/${session}/cancel`)).status, 202);
    for (const each of [id, `${id}/part`]) assert.equal((await store.queue.run(each))?.outcome?.reason, 'cancelled');
  }
});

test('[A92] a message to a session goes to its active run, not to one that is queued behind it', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  await store.queue.enqueue([{ id: 'first', prompt: 'now', session: 's' }]);
  const over = new AbortController();
  const drive = async (): Promise<{ readonly type: 'waiting'; readonly pendingApprovals: [] }> => {
    over.abort();
    return { type: 'waiting', pendingApprovals: [] };
  };
  await store.queue.work({ worker: 'w', concurrency: 1, signal: over.signal, handle: drive });
  await store.queue.enqueue([{ id: 'second', prompt: 'later', kind: 'plan', session: 's' }]);
  const steered = await request('POST /api/sessions/s/steer', { body: { text: 'South' } });
  assert.deepEqual([steered.status, getRun(steered).id], [202, 'first']);
  assert.equal(getRun(await request('POST /api/sessions/s/cancel')).id, 'first');
  assert.equal((await store.queue.run('second'))?.status, 'queued');
});
