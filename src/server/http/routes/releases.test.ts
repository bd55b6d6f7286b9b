// Tests of the routes of releases: the report with the results of the canary, what a tenant sees, damaged files, and the rollback.
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { ReleaseReport } from '../../../coding-agent/releases/index.ts';
import { zeroUsage } from '../../../core/index.ts';
import { startWorker } from '../../../fleet/index.ts';
import { createApiFixture } from '../../../../test/support/api-server.ts';
import { createReleaseFixture } from '../../../../test/support/release-fixture.ts';

test('[A114] GET /api/releases is empty on a server without releases, and a rollback is a conflict', async (t) => {
  const { request } = await createApiFixture(t, { worker: false, releases: createReleaseFixture(t).releases });
  const { status, body } = await request('GET /api/releases', { as: 'reader' });
  assert.equal(status, 200);
  assert.deepEqual(body, { releases: [], totalReleases: 0, history: [], totalChanges: 0, problems: [] });
  assert.equal((await request('POST /api/releases/rollback', { as: 'operator', body: { reason: 'x' } })).status, 409);
});

test('[A114] GET /api/releases has the releases in use, the results of the canary with intervals, and the history', async (t) => {
  const { releases, create, promote } = createReleaseFixture(t);
  const [first, second] = [create('first'), create('second')];
  await promote(first, 1);
  await promote(second, 0.25, '19 of 20');
  const fixture = await createApiFixture(t, {
    worker: false,
    releases,
    extraKeys: 'reader@acme:a-key-of-acme-that-reads',
  });
  const { request, store } = fixture;
  // More runs than are read at once, so that the pages are added up.
  const ids = Array.from({ length: 130 }, (_, n) => `run-${n}`);
  await store.queue.enqueue(ids.map((id) => ({ id, prompt: 'x', tenant: 'bolt' })));
  const worker = startWorker({
    store,
    handlers: {
      run: async ({ id }) => ({
        type: 'completed',
        outcome: {
          reason: id === 'run-0' ? 'provider-error' : 'answered',
          text: '',
          release: Number(id.slice(4)) < 8 ? second : first,
          spent: zeroUsage,
        },
      }),
    },
  });
  t.after(() => worker.abort());
  await Promise.all(ids.map((id) => fixture.waitForStatus(id, 'ended')));
  const { body } = await request('GET /api/releases', { as: 'reader' });
  const { canary, history, rollback, releases: listed, problems } = body as ReleaseReport;
  assert.deepEqual(problems, []);
  assert.deepEqual(
    listed.map(({ name, use, files, tools, model, by }) => [name, use, files, tools, model, by]),
    [
      ['second', 'canary', 1, 1, 'qwen3', 'ann'],
      ['first', 'current', 1, 1, 'qwen3', 'ann'],
    ],
  );
  assert.equal(canary?.share, 0.25);
  assert.deepEqual([canary.results.canary.good, canary.results.canary.total], [7, 8]);
  assert.deepEqual([canary.results.current.good, canary.results.current.total], [122, 122]);
  assert.ok(canary.results.canary.interval[0] > 0.5 && canary.results.canary.interval[1] < 1);
  assert.deepEqual(
    history.map(({ action, release, reason }) => [action, release, reason]),
    [
      ['canary-started', second, '19 of 20'],
      ['activated', first, '10 of 10'],
    ],
  );
  assert.deepEqual(rollback, { release: second, to: first });
  const headers = { authorization: 'Bearer a-key-of-acme-that-reads' };
  const tenant = (await request('GET /api/releases', { as: 'nobody', headers })).body as ReleaseReport;
  assert.equal(tenant.canary?.results.current.total, 0, 'the runs of another tenant are not counted');
  assert.doesNotMatch(JSON.stringify(tenant), /ann|19 of 20/);
});

test('[A114] a rollback needs an operator of all tenants and a reason, and ends only the release that was seen', async (t) => {
  const { releases, create, promote } = createReleaseFixture(t);
  const [first, second] = [create('first'), create('second')];
  await promote(first, 1);
  await promote(second, 0.25);
  const { request } = await createApiFixture(t, {
    worker: false,
    releases,
    extraKeys: 'operator@acme:a-key-of-acme-that-operates',
  });
  const rollBack = async (body: unknown, headers?: Readonly<Record<string, string>>): Promise<number> =>
    (
      await request('POST /api/releases/rollback', {
        as: headers ? 'nobody' : 'operator',
        body,
        ...(headers ? { headers } : {}),
      })
    ).status;
  assert.equal((await request('POST /api/releases/rollback', { as: 'runner', body: { reason: 'x' } })).status, 403);
  assert.equal(await rollBack({ reason: 'x' }, { authorization: 'Bearer a-key-of-acme-that-operates' }), 403);
  assert.equal(await rollBack({ reason: ' ' }), 400);
  assert.equal(await rollBack({ reason: 'x', release: first }), 409);
  assert.equal(releases.readHistory().length, 2, 'nothing was recorded');
  assert.equal(await rollBack({ reason: 'wrong sums', release: second }), 200);
  // The second press of two operators must not end the release that is in use now.
  assert.equal(await rollBack({ reason: 'wrong sums', release: second }), 409);
  const last = releases.readHistory().at(-1);
  assert.deepEqual([last?.action, last?.release, last?.reason], ['rolled-back', second, 'wrong sums']);
  assert.match(last?.by ?? '', /^operator [0-9a-f]{8}$/);
});

test('[A114] a changed history and a damaged manifest are named, without a path of the machine', async (t) => {
  const { releases, create, promote } = createReleaseFixture(t);
  await promote(create('first'), 1);
  create('second');
  appendFileSync(path.join(releases.folder, 'history.jsonl'), '{"seq":2}\n');
  writeFileSync(path.join(releases.folder, 'manifests', `${'0'.repeat(20)}.json`), '{');
  const { request } = await createApiFixture(t, { worker: false, releases });
  const {
    problems,
    history,
    rollback,
    releases: listed,
  } = (await request('GET /api/releases', { as: 'reader' })).body as ReleaseReport;
  assert.deepEqual(problems, [
    'Line 2 of the release history is not as it was written.',
    `The manifest ${'0'.repeat(20)} cannot be read: It is not JSON.`,
  ]);
  assert.deepEqual(new Set(listed.map(({ name }) => name)), new Set(['first', 'second']), 'the others are listed');
  assert.deepEqual([history, rollback], [[], undefined]);
  assert.equal((await request('POST /api/releases/rollback', { as: 'operator', body: { reason: 'x' } })).status, 503);
});
