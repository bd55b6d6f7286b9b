// Tests of run requests: folders, approvals and limits of runs are restricted to those of the server.
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { FleetRun } from '../../core/index.ts';
import { createApiFixture, type ApiReply, type ApiRequestOptions } from '../../../test/support/api-server.ts';

const getErrorMessage = ({ body }: ApiReply): string =>
  (body as { readonly error: { readonly message: string } }).error.message;
const getRun = ({ body }: ApiReply): FleetRun => (body as { readonly run: FleetRun }).run;

/** Every route that starts a run with settings. */
const startRequests: readonly (readonly [request: string, body: (wish: object) => unknown])[] = [
  ['POST /api/runs', (wish) => ({ prompt: 'x', ...wish })],
  ['POST /api/orchestrate', (wish) => ({ prompt: 'x', ...wish })],
  ['POST /api/verify', (wish) => ({ prompt: 'x', ...wish })],
  ['POST /api/runs', (settings) => ({ runs: [{ prompt: 'x' }, { prompt: 'x', settings }] })],
  ['PUT /api/schedules/some', (settings) => ({ cron: '0 9 * * 1', run: { prompt: 'x', settings } })],
];

test('[A97] a run works in a folder of the server and in no other, for every route and every role', async (t) => {
  const { request: ask, store, folder } = await createApiFixture(t, { worker: false });
  mkdirSync(path.join(folder, 'inside'));
  symlinkSync('/', path.join(folder, 'link'));
  for (const [request, body] of startRequests) {
    for (const wanted of ['/', '/etc', '..', '../..', `${folder}-beside`, 'link', 'link/etc', 'inside/../..', 'a\0b'])
      for (const as of ['runner', 'operator'] as const) {
        const reply = await ask(request, { as, body: body({ folder: wanted }) });
        assert.ok([400, 403].includes(reply.status), `${request} in ${JSON.stringify(wanted)}: ${reply.status}`);
      }
    assert.equal((await store.queue.list()).length, 0, request);
    assert.equal((await store.queue.schedules()).length, 0, request);
  }
  for (const wanted of [folder, 'inside', path.join(folder, 'inside'), 'inside/not-there-yet'])
    assert.equal((await ask('POST /api/runs', { as: 'runner', body: { prompt: 'x', folder: wanted } })).status, 202);
  const named = await ask('POST /api/runs', { body: { prompt: 'x', model: 'fairlead' } });
  assert.ok(!('model' in getRun(named).settings), 'the placeholder for any model is not stored as a model');
  for (const { settings } of await store.queue.list()) {
    assert.ok(String(settings['folder']).startsWith(folder), JSON.stringify(settings));
    assert.deepEqual(settings['within'], [folder]);
  }
});

test('[A97] configured folders are allowed for runs too', async (t) => {
  const { request, folder } = await createApiFixture(t, { worker: false, folders: ['/usr'] });
  const there = await request('POST /api/runs', { as: 'runner', body: { prompt: 'x', folder: '/usr/share' } });
  assert.equal(getRun(there).settings['folder'], '/usr/share');
  assert.deepEqual(getRun(there).settings['within'], [folder, '/usr']);
});

test('[A97] changes without approval need an operator key', async (t) => {
  const { request: ask, store } = await createApiFixture(t, { worker: false });
  for (const [request, body] of startRequests) {
    const reply = await ask(request, { as: 'runner', body: body({ auto: true }) });
    assert.equal(reply.status, 403, request);
    assert.match(getErrorMessage(reply), /auto/);
    assert.equal((await ask(request, { as: 'runner', body: body({ auto: false }) })).status < 300, true, request);
  }
  assert.ok((await store.queue.list()).every(({ settings }) => settings['auto'] !== true));
  assert.equal((await ask('POST /api/runs', { as: 'operator', body: { prompt: 'x', auto: true } })).status, 202);
});

test('[A97] the settings of queued runs are validated with the same schema, and errors name the field', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  for (const settings of [
    { limits: { turns: 'many' } },
    { limits: { usd: -1 } },
    { limits: { errors: 5 } },
    { within: ['/'] },
    { sandbox: false },
    { folder: 5 },
    { auto: 'yes' },
  ]) {
    const queued = await request('POST /api/runs', { body: { runs: [{ prompt: 'x', settings }] } });
    assert.equal(queued.status, 400, JSON.stringify(settings));
    assert.match(getErrorMessage(queued), new RegExp(Object.keys(settings)[0] ?? ''));
  }
  assert.equal((await request('POST /api/runs', { body: { runs: [{ prompt: 'x', kind: 'nonsense' }] } })).status, 400);
  assert.equal((await store.queue.list()).length, 0);
});

test('[A97] a key of a tenant starts runs for that tenant only', async (t) => {
  const { request: ask, store } = await createApiFixture(t, {
    worker: false,
    extraKeys: 'runner@acme:a-key-of-acme-and-nobody',
  });
  const acme: ApiRequestOptions = { headers: { authorization: 'Bearer a-key-of-acme-and-nobody' } };
  for (const [request, body] of startRequests) {
    assert.ok((await ask(request, { ...acme, body: body({}) })).status < 300, request);
    const other = { ...(body({ tenant: 'other' }) as Record<string, unknown>) };
    if ('runs' in other) other['runs'] = [{ prompt: 'x', tenant: 'other' }];
    if (request.startsWith('PUT')) other['run'] = { prompt: 'x', tenant: 'other' };
    assert.equal((await ask(request, { ...acme, body: other })).status, 403, request);
  }
  const runs = [...(await store.queue.list()), ...(await store.queue.schedules()).map(({ run }) => run)];
  assert.ok(runs.length > 4 && runs.every(({ tenant }) => tenant === 'acme'));
});

test('[A88] an Idempotency-Key of another request is refused, and does not return that run', async (t) => {
  const { request: ask, store } = await createApiFixture(t, { worker: false });
  const headers = { 'idempotency-key': 'same' };
  const first = { prompt: 'one', model: 'm', limits: { turns: 3 } };
  assert.equal((await ask('POST /api/runs', { headers, body: first })).status, 202);
  assert.equal((await ask('POST /api/runs', { headers, body: first })).status, 202);
  const queued = { prompt: 'one', settings: { model: 'm', limits: { turns: 3 } } };
  assert.equal((await ask('POST /api/runs', { body: { runs: [{ id: 'same', ...queued }] } })).status, 202);
  const others: readonly (readonly [string, unknown])[] = [
    ['POST /api/runs', { ...first, prompt: 'two' }],
    ['POST /api/runs', { ...first, model: 'n' }],
    ['POST /api/runs', { ...first, limits: { turns: 4 } }],
    ['POST /api/runs', { ...first, tenant: 'acme' }],
    ['POST /api/runs', { ...first, session: 'another' }],
    ['POST /api/orchestrate', first],
    ['POST /api/verify', first],
    ['POST /api/runs', { runs: [{ prompt: 'new' }, { id: 'same', prompt: 'two' }] }],
    ['POST /api/runs', { runs: [{ id: 'same', ...queued, notBefore: '2999-01-01T00:00:00Z' }] }],
    ['POST /v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'two' }] }],
    ['POST /v1/responses', { model: 'm', input: 'two' }],
  ];
  for (const [request, body] of others)
    assert.equal((await ask(request, { headers, body })).status, 409, `${request} ${JSON.stringify(body)}`);
  assert.equal((await store.queue.list()).length, 1);
  const twins = ['one', 'two'].map((prompt) => ({ id: 'twin', prompt }));
  assert.equal((await ask('POST /api/runs', { body: { runs: twins } })).status, 409);
  assert.equal((await store.queue.list()).length, 1, 'a refused request starts no run');
  const same = ['one', 'one'].map((prompt) => ({ id: 'alike', prompt }));
  assert.equal((await ask('POST /api/runs', { body: { runs: same } })).status, 202);
  const both = ['one', 'two'].map((prompt) =>
    ask('POST /api/runs', { headers: { 'idempotency-key': 'race' }, body: { prompt } }),
  );
  assert.deepEqual(new Set((await Promise.all(both)).map(({ status }) => status)), new Set([202, 409]));
});
