// Tests of the routes of traces: the spans of a session, those that changed since a time, one with its texts, and who may read them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { calls, says } from '../../../testing/index.ts';
import type { Span } from '../../../tracing/index.ts';
import { createApiFixture } from '../../../../test/support/api-server.ts';

type Trace = { readonly spans: readonly Span[]; readonly totalSpans: number };

test('[A23] GET /api/sessions/{id}/trace has the spans of a session, those that changed, and one with its texts', async (t) => {
  const { request, store, waitForStatus } = await createApiFixture(t, {
    script: ({ results }) => (results.length === 0 ? calls('act', { berth: 7 }).and(calls('stop', {})) : says('done')),
    tools: ['act', 'stop'].map((name) => ({
      name,
      description: name,
      input: { type: 'object' },
      effect: 'read',
      execute: () => 'two boats',
    })),
    gates: [({ tool }) => (tool === 'stop' ? { type: 'deny', reason: 'never' } : { type: 'allow' })],
    extraKeys: 'reader@acme:a-key-of-acme-that-reads',
  });
  await store.queue.enqueue([{ id: 'one', prompt: 'go' }]);
  await waitForStatus('one', 'ended');
  const read = async (query = ''): Promise<Trace> =>
    (await request(`GET /api/sessions/one/trace${query}`, { as: 'reader' })).body as Trace;
  const { spans, totalSpans } = await read();
  assert.deepEqual(spans.map(({ kind, name }) => `${kind} ${name}`).toSorted(), [
    'gate harness',
    'model scripted',
    'model scripted',
    'run fairlead',
    'tool act',
    'turn turn 1',
    'turn turn 2',
  ]);
  assert.equal(totalSpans, 7);
  const tool = spans.find(({ kind }) => kind === 'tool');
  assert.deepEqual(tool?.content, { arguments: { berth: 7 } });
  const [detail] = (await read(`?span=${tool?.spanId}`)).spans;
  assert.deepEqual(detail?.content, { arguments: { berth: 7 }, result: 'two boats' });
  assert.deepEqual((await read(`?since=${Date.now() + 60_000}`)).spans, []);
  const end = spans.find(({ kind }) => kind === 'run')?.end ?? 0;
  assert.ok((await read(`?since=${end}`)).spans.some(({ kind }) => kind === 'run'));
  const status = async (path: string, key?: string): Promise<number> =>
    (
      await request(`GET ${path}`, {
        as: key === undefined ? 'reader' : 'nobody',
        ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
      })
    ).status;
  assert.equal(await status('/api/sessions/one/trace?span=0000000000000000'), 404);
  assert.equal(await status('/api/sessions/one/trace?span=x'), 400);
  assert.equal(await status('/api/sessions/none/trace'), 404);
  assert.equal(await status('/api/sessions/one/trace', 'a-key-of-acme-that-reads'), 404, 'another tenant sees nothing');
  assert.equal(await status('/api/terminal-sessions/one/trace'), 403, 'a reader sees no sessions of the terminal');
});
