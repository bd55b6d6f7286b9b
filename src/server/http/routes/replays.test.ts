// Tests of the routes of replays: what a replay compares and returns, who may start one with a live model, and its limits.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { SessionReplay } from '../../../sessions/index.ts';
import { says } from '../../../testing/index.ts';
import { createApiFixture } from '../../../../test/support/api-server.ts';
import type { ReplayRequest } from '../context.ts';

test('[P87] POST /api/sessions/{id}/replay compares a recording, with bounded texts, and a live model needs an operator of all tenants', async (t) => {
  const asked: ReplayRequest[] = [];
  const long = 'x'.repeat(30_000);
  const { request, store, waitForStatus } = await createApiFixture(t, {
    script: () => says('done'),
    extraKeys: 'operator@acme:a-key-of-acme-that-operates',
    replay: async (events, options): Promise<SessionReplay> => {
      asked.push(options);
      const differences = Array.from({ length: 150 }, (_, i) => ({
        turn: i,
        where: 'answer',
        recorded: `same\n${long}\nend`,
        replayed: `same\nother\nend`,
      }));
      return { session: 's', model: 'm', turns: events.length, identical: false, differences };
    },
  });
  await store.queue.enqueue([{ id: 'one', prompt: 'go' }]);
  await waitForStatus('one', 'ended');
  const post = (body: unknown, as: 'reader' | 'runner' | 'operator' = 'runner'): ReturnType<typeof request> =>
    request('POST /api/sessions/one/replay', { as, body });
  const { status, body } = await post({});
  assert.equal(status, 200);
  const { differences, totalDifferences } = body as {
    readonly totalDifferences: number;
    readonly differences: readonly { readonly before: number; readonly isCut: boolean; readonly rows: string[][] }[];
  };
  assert.deepEqual([differences.length, totalDifferences], [100, 150]);
  assert.deepEqual([differences[0]?.before, differences[0]?.isCut], [1, true]);
  assert.equal(differences[0]?.rows[0]?.[0]?.length, 1001);
  assert.equal(asked[0]?.isComparable, false, 'the session names no folder of this server');
  assert.equal((await post({}, 'reader')).status, 403);
  assert.equal((await post({ live: { from: 1 } })).status, 403);
  assert.equal((await post({ live: { from: 0 } }, 'operator')).status, 400);
  assert.equal((await post({ live: { from: 1, model: 'unknown' } }, 'operator')).status, 404);
  assert.equal(
    (await post({ live: { from: 1 }, tools: true }, 'operator')).status,
    400,
    'there are no live tools here',
  );
  const ofTenant = await request('POST /api/sessions/one/replay', {
    as: 'nobody',
    headers: { authorization: 'Bearer a-key-of-acme-that-operates' },
    body: { live: { from: 1 } },
  });
  assert.equal(ofTenant.status, 403);
  assert.equal(asked.length, 1, 'nothing was replayed for these requests');
  assert.equal((await post({ live: { from: 1 } }, 'operator')).status, 200);
  assert.deepEqual([asked[1]?.from, asked[1]?.model], [1, 'scripted']);
  await store.killSwitch.stop('a test', 'test');
  assert.equal((await post({ live: { from: 1 } }, 'operator')).status, 503);
  assert.equal((await request('POST /api/sessions/none/replay', { as: 'runner', body: {} })).status, 404);
});

test('[P87] without a configuration of now a recording is compared with itself', async (t) => {
  const { request, store, waitForStatus } = await createApiFixture(t, { script: () => says('done') });
  await store.queue.enqueue([{ id: 'one', prompt: 'go' }]);
  await waitForStatus('one', 'ended');
  const { body } = await request('POST /api/sessions/one/replay', { as: 'runner', body: {} });
  assert.deepEqual((body as SessionReplay).identical, true);
});
