// Tests of deprecated names of the HTTP API: fields, query parameters, values and paths must still work.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun, KillSwitchState } from '../../core/index.ts';
import { createApiFixture, type ApiReply } from '../../../test/support/api-server.ts';
import { createOpenApiDocument } from './openapi.ts';
import { apiRoutes } from './routes/index.ts';

const getRun = ({ body }: ApiReply): FleetRun => (body as { readonly run: FleetRun }).run;
const getRuns = ({ body }: ApiReply): readonly FleetRun[] => (body as { readonly runs: readonly FleetRun[] }).runs;

test('[A88, A91] POST /api/run and POST /api/enqueue still start runs, with `words` or with `prompt`', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  for (const [path, field] of [
    ['/api/run', 'words'],
    ['/api/run', 'prompt'],
    ['/api/runs', 'words'],
  ] as const) {
    const started = await request(`POST ${path}`, { body: { [field]: 'hello' } });
    assert.deepEqual([started.status, getRun(started).prompt], [202, 'hello'], `${path} ${field}`);
    assert.ok(!('words' in getRun(started)), 'a response has current names only');
  }
  for (const path of ['/api/enqueue', '/api/runs']) {
    const queued = await request(`POST ${path}`, { body: { runs: [{ words: 'one' }, { prompt: 'two' }] } });
    assert.equal(queued.status, 202);
    assert.deepEqual(
      getRuns(queued).map(({ prompt }) => prompt),
      ['one', 'two'],
    );
  }
  assert.equal((await store.queue.list()).length, 7);
  const both = await request('POST /api/run', { body: { words: 'one', prompt: 'two' } });
  assert.equal(both.status, 400, 'two names of one field are refused');
});

test('former fields of other requests, query parameters and status values still work', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const { session } = getRun(await request('POST /api/runs', { body: { prompt: 'hello' } }));
  const steered = await request(`POST /api/sessions/${session}/steer`, { body: { words: 'more', how: 'follow-up' } });
  assert.equal(steered.status, 202);
  const schedule = await request('PUT /api/schedules/weekly', { body: { cron: '0 9 * * 1', run: { words: 'tidy' } } });
  const stored = (schedule.body as { readonly schedule: { readonly run: { readonly prompt: string } } }).schedule;
  assert.equal(stored.run.prompt, 'tidy');
  await request('POST /api/runs', { body: { prompt: 'again' } });
  assert.equal(getRuns(await request('GET /api/runs?most=1')).length, 1);
  assert.equal((await request('GET /api/sessions?most=1')).status, 200);
  assert.equal((await request('GET /api/runs?status=resting')).status, 200);
  assert.equal((await request('GET /api/runs?status=constructor')).status, 400);
  assert.equal((await request('POST /api/runs', { body: '{"constructor": 1, "__proto__": 2}' })).status, 400);
  assert.equal((await request('GET /api/health/history?stretchMs=3600000')).status, 200);
});

test('[A95, A96] /api/control, /api/control/stop, /api/control/resume and /api/frontier still work', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  for (const body of [{ why: 'a drill' }, { reason: 'a drill' }]) {
    const stopped = await request('POST /api/control/stop', { body });
    assert.equal(stopped.status, 200);
    const { reason, by } = stopped.body as KillSwitchState;
    assert.equal(reason, 'a drill');
    assert.match(by ?? '', /^operator /);
    assert.deepEqual((await request('GET /api/control')).body, (await request('GET /api/kill-switch')).body);
    assert.equal((await request('POST /api/control/resume', { as: 'runner' })).status, 403);
    const resumed = (await request('POST /api/control/resume')).body as KillSwitchState;
    assert.equal(resumed.stopped, false);
  }
  assert.equal((await request('POST /api/control/stop', { body: {} })).status, 400);
  assert.equal((await request('POST /api/control/stop', { body: { stopped: false } })).status, 400);
  assert.deepEqual((await request('GET /api/frontier')).body, (await request('GET /api/scorecard')).body);
});

test('the OpenAPI document marks former paths, fields and query parameters as deprecated', () => {
  const document = JSON.parse(JSON.stringify(createOpenApiDocument(apiRoutes, '1'))) as {
    readonly paths: Record<string, Record<string, { deprecated?: boolean; parameters?: { name: string }[] }>>;
    readonly components: { readonly schemas: Record<string, { properties: Record<string, unknown> }> };
  };
  for (const [path, method] of [
    ['/api/run', 'post'],
    ['/api/enqueue', 'post'],
    ['/api/control', 'get'],
    ['/api/control/stop', 'post'],
    ['/api/control/resume', 'post'],
    ['/api/frontier', 'get'],
  ] as const)
    assert.equal(document.paths[path]?.[method]?.deprecated, true, path);
  assert.equal(document.paths['/api/runs']?.['post']?.deprecated, undefined);
  const parameter = document.paths['/api/runs']?.['get']?.parameters?.find(({ name }) => name === 'most');
  assert.deepEqual(parameter && { ...parameter, schema: undefined }, {
    name: 'most',
    in: 'query',
    description: 'Deprecated: use limit.',
    required: false,
    deprecated: true,
    schema: undefined,
  });
  assert.match(JSON.stringify(document.components.schemas['NewRun']), /"words":\{[^}]*"deprecated":true/);
  assert.ok(!('words' in (document.components.schemas['Run']?.properties ?? {})), 'responses have no former names');
});
