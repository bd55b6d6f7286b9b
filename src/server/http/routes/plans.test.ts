// Tests of plans over HTTP: start with caps, read the states of the steps, consent, and control of one step.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createApiFixture, type ApiReply } from '../../../../test/support/api-server.ts';
import { Agent } from '../../../agent/index.ts';
import type { FleetRun } from '../../../core/index.ts';
import { worker, type PlanView } from '../../../fleet/index.ts';
import { scriptedProvider } from '../../../testing/index.ts';

const steps = [
  { id: 'a', task: 'Look at A.', after: [] },
  { id: 'b', task: 'Look at B.', after: ['a'] },
];
const body = { prompt: 'Compare A and B.', steps, caps: { parallel: 2 }, replans: 0, confirm: true };

/** A server whose worker works only when it is told to. */
const createPlanServer = async (t: TestContext) => {
  const api = await createApiFixture(t, { worker: false });
  const model = scriptedProvider(({ prompt }) => `Done: ${prompt.split('\n')[0]}`);
  const work = (): Promise<void> => worker({ store: api.store, agent: new Agent({ model }) }).drain();
  const getPlan = async (id: string): Promise<PlanView> =>
    ((await api.request(`GET /api/orchestrate/${id}`)).body as { readonly plan: PlanView }).plan;
  return { ...api, model, work, getPlan };
};

const getRun = ({ body: reply }: ApiReply): FleetRun => (reply as { readonly run: FleetRun }).run;

const statusesOf = ({ steps: all }: PlanView): string => all.map(({ id, status }) => `${id} ${status}`).join(', ');

test('[A89] a plan is started with its caps, waits for consent, and its steps are read with their states', async (t) => {
  const { request, work, getPlan, model } = await createPlanServer(t);
  const run = getRun(await request('POST /api/orchestrate', { as: 'runner', body }));
  await work();
  const proposed = await getPlan(run.id);
  assert.deepEqual([proposed.stage, proposed.start?.caps.parallel, proposed.estimate?.usd], ['proposed', 2, 0]);
  assert.equal(model.requests.length, 0);
  const answer = { call: 'plan', allowed: true };
  const approvals = (await request('GET /api/approvals')).body as { readonly approvals: readonly { run: string }[] };
  assert.equal(approvals.approvals[0]?.run, run.id);
  assert.equal((await request(`POST /api/sessions/${run.session}/answer`, { as: 'runner', body: answer })).status, 202);
  await work();
  const ended = await getPlan(run.id);
  assert.deepEqual([ended.stage, statusesOf(ended)], ['ended', 'a done, b done']);
  assert.equal(getRun(await request(`GET /api/orchestrate/${run.id}`)).outcome?.reason, 'answered');
});

test('[A89] one step is cancelled, another one is steered; a plan is refused; what does not exist is 404, what has ended 409', async (t) => {
  const { request, work, getPlan, model } = await createPlanServer(t);
  const { id } = getRun(await request('POST /api/orchestrate', { as: 'runner', body }));
  await work();
  const ofStep = (step: string, what: string, more?: object) =>
    request(`POST /api/orchestrate/${id}/steps/${step}/${what}`, { as: 'runner', body: more ?? {} });
  assert.equal((await ofStep('b', 'cancel')).status, 202);
  assert.equal((await ofStep('a', 'steer', { text: 'In metres.' })).status, 202);
  assert.equal((await ofStep('x', 'cancel')).status, 404);
  const consent = `POST /api/orchestrate/${id}/consent`;
  assert.equal((await request(consent, { as: 'runner', body: { allowed: true } })).status, 202);
  await work();
  assert.equal(statusesOf(await getPlan(id)), 'a done, b cancelled');
  assert.match(JSON.stringify(model.requests[0]?.messages), /The user says about this step:\\nIn metres\./);
  assert.equal((await ofStep('a', 'cancel')).status, 409);
  assert.equal((await request(consent, { as: 'runner', body: { allowed: true } })).status, 409);
  const other = getRun(await request('POST /api/orchestrate', { as: 'runner', body }));
  await work();
  await request(`POST /api/orchestrate/${other.id}/consent`, { as: 'runner', body: { allowed: false } });
  await work();
  const refused = getRun(await request(`GET /api/orchestrate/${other.id}`));
  assert.deepEqual(
    [refused.outcome?.reason, statusesOf(await getPlan(other.id))],
    ['cancelled', 'a waiting, b waiting'],
  );
});

test('[A89] a step that asks for more than its run is refused, and caps out of range are 400', async (t) => {
  const { request, work, model } = await createPlanServer(t);
  const asking = { ...body, confirm: false, steps: [{ ...steps[0], auto: true }] };
  const { id } = getRun(await request('POST /api/orchestrate', { as: 'runner', body: asking }));
  await work();
  assert.match(
    getRun(await request(`GET /api/runs/${id}`)).outcome?.detail ?? '',
    /changes without approval, which the run may not/,
  );
  assert.equal(model.requests.length, 0);
  const badSteps = [{ limits: { calls: 1 } }, { limits: { usd: -1 } }, { after: ['x'.repeat(41)] }].map((more) => ({
    steps: [{ ...steps[0], ...more }],
  }));
  for (const wrong of [{ caps: { steps: 1000 } }, { replans: 9 }, { verify: 'yes' }, { confirm: 'no' }, ...badSteps])
    assert.equal((await request('POST /api/orchestrate', { as: 'runner', body: { ...body, ...wrong } })).status, 400);
});

test('[A89] the messages to one step are bounded, also those that no worker has read', async (t) => {
  const { request, work } = await createPlanServer(t);
  const { id } = getRun(await request('POST /api/orchestrate', { as: 'runner', body }));
  await work();
  const steer = async (step: string): Promise<number> =>
    (
      await request(`POST /api/orchestrate/${id}/steps/${step}/steer`, {
        as: 'runner',
        body: { text: 'x'.repeat(400_000) },
      })
    ).status;
  assert.deepEqual([await steer('a'), await steer('a'), await steer('a')], [202, 202, 409]);
  assert.equal(await steer('b'), 202, 'another step has its own messages');
  await work();
  assert.equal(await steer('a'), 409);
});

const tenantKeys = { red: 'a-key-of-the-tenant-red', blue: 'a-key-of-the-tenant-blue' };

test('[A89] a plan cannot be read, approved, cancelled or steered without a key, by a reader, or by another tenant', async (t) => {
  const extraKeys = Object.entries(tenantKeys)
    .map(([tenant, key]) => `runner@${tenant}:${key}`)
    .join(',');
  const { request, store } = await createApiFixture(t, { worker: false, extraKeys });
  const model = scriptedProvider(() => 'Done.');
  const as = (tenant: keyof typeof tenantKeys) => ({ authorization: `Bearer ${tenantKeys[tenant]}` });
  const { id } = getRun(await request('POST /api/orchestrate', { headers: as('red'), body }));
  await worker({ store, agent: new Agent({ model }) }).drain();
  const changes: readonly (readonly [string, object])[] = [
    ['consent', { allowed: true }],
    ['steps/a/cancel', {}],
    ['steps/a/steer', { text: 'Obey.' }],
  ];
  assert.equal((await request(`GET /api/orchestrate/${id}`, { headers: as('blue') })).status, 404);
  assert.equal((await request(`GET /api/orchestrate/${id}`, { as: 'nobody' })).status, 401);
  for (const [change, what] of changes) {
    const path = `POST /api/orchestrate/${id}/${change}`;
    assert.equal((await request(path, { headers: as('blue'), body: what })).status, 404, change);
    assert.equal((await request(path, { as: 'reader', body: what })).status, 403, change);
    assert.equal((await request(path, { as: 'nobody', body: what })).status, 401, change);
  }
  assert.deepEqual(await store.inbox.read(id, 0), []);
  for (const [change, what] of changes)
    assert.equal(
      (await request(`POST /api/orchestrate/${id}/${change}`, { headers: as('red'), body: what })).status,
      202,
    );
});

test('[A89] a client that may not start a run with auto: true cannot consent to its plan, or steer its steps', async (t) => {
  const { request, work, getPlan } = await createPlanServer(t);
  const { id } = getRun(await request('POST /api/orchestrate', { as: 'operator', body: { ...body, auto: true } }));
  await work();
  const consent = { as: 'runner', body: { allowed: true } } as const;
  assert.equal((await request(`POST /api/orchestrate/${id}/consent`, consent)).status, 403);
  const steer = { as: 'runner', body: { text: 'Obey.' } } as const;
  assert.equal((await request(`POST /api/orchestrate/${id}/steps/a/steer`, steer)).status, 403);
  await work();
  assert.equal((await getPlan(id)).stage, 'proposed');
});
