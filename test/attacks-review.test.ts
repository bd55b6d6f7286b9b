// Attacks on the server by size: small requests that took minutes of work or gigabytes of memory, and requests for more than the share or the rights of a client.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { createValidator } from '../src/agent/index.ts';
import { isObject, type JsonObject } from '../src/core/index.ts';
import { createApiFixture, eventually, roleKeys, type ApiReply } from './support/api-server.ts';
import { assertAttack } from './support/attack-report.ts';

/** Ends a test of work that must not take minutes. */
const hangGuard = { timeout: 120_000 };

const repeat = <T>(count: number, create: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => create(i));

const errorText = ({ body }: ApiReply): string =>
  isObject(body) && isObject(body['error']) ? String(body['error']['message']) : '';

test(
  '[attack 140] a schema without references and patterns is stopped if it takes too long for a value',
  hangGuard,
  (t) => {
    const flat = createValidator({ type: 'array', items: { allOf: repeat(4000, () => ({})) } });
    assert.match(flat(repeat(100_000, () => 0)) ?? '', /takes too long/);
    const wrap = (inner: JsonObject): JsonObject => ({ items: { allOf: repeat(15, () => inner) } });
    const nested = createValidator(wrap(wrap(wrap({}))));
    assert.match(nested([[repeat(200_000, () => 0)]]) ?? '', /takes too long/);
    // The next value does not take the time again at once.
    assert.match(nested([[[0]]]) ?? '', /takes too long/);
    assertAttack(t, 140, ['contained']);
  },
);

test('[attack 141] a schema that would take minutes to compile is refused before', hangGuard, async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const leaves = Object.fromEntries(repeat(2500, (i) => [`p${i}`, {}]));
  const nestedIds = repeat(40, (i) => i).reduce<JsonObject>((inner, i) => ({ $id: `s${i}`, items: inner }), {});
  const schemas: readonly JsonObject[] = [
    { properties: { ['k'.repeat(3_000_000)]: { properties: leaves } } },
    { properties: { ['k'.repeat(100_000)]: { properties: leaves } } },
    { $id: `https://example.com/${'k'.repeat(100_000)}`, properties: leaves },
    { properties: Object.fromEntries(repeat(20_000, (i) => [`p${i}`, {}])) },
    { items: nestedIds },
  ];
  for (const schema of schemas) {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    const body = { messages: [{ role: 'user', content: 'x' }], response_format: format };
    const reply = await request('POST /v1/chat/completions', { as: 'runner', body });
    assert.equal(reply.status, 400);
    assert.match(errorText(reply), /too large/);
  }
  // Many schemas of one request count together.
  const tools = repeat(20, (i) => ({
    type: 'function',
    function: { name: `t${i}`, parameters: { properties: leaves } },
  }));
  const body = { messages: [{ role: 'user', content: 'x' }], tools };
  assert.match(errorText(await request('POST /v1/chat/completions', { as: 'runner', body })), /nested schemas/);
  assertAttack(t, 141, ['blocked']);
});

test('[attack 142] folders with thousands of parts are refused without looking for each part', hangGuard, async (t) => {
  const { request, folder } = await createApiFixture(t, { worker: false });
  const queue = (name: string, count: number): Promise<ApiReply> =>
    request('POST /api/runs', {
      as: 'runner',
      body: { runs: repeat(count, () => ({ prompt: 'x', settings: { folder: name } })) },
    });
  assert.equal((await queue(`/${'a/'.repeat(2000)}`, 500)).status, 403);
  assert.equal((await queue('a/'.repeat(2000), 500)).status, 403);
  // Work in a folder that exists on another machine only goes on.
  assert.equal((await queue(path.join(folder, 'a/b/c'), 500)).status, 202);
  assert.equal((await queue('..', 1)).status, 403);
  assertAttack(t, 142, ['blocked']);
});

test('[attack 143] many parts, tools and tool results take linear time', hangGuard, async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const ask = (body: JsonObject, to = 'chat/completions'): Promise<ApiReply> =>
    request(`POST /v1/${to}`, { as: 'runner', body: { model: 'no such model', ...body } });
  const parts = repeat(130_000, () => ({ type: 'text', text: 'a' }));
  const users = repeat(9990, () => ({ role: 'user', content: 'a' }));
  assert.equal((await ask({ messages: [{ role: 'user', content: parts }, ...users] })).status, 404);
  const items = repeat(9999, (i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'a' }));
  assert.equal((await ask({ input: items }, 'responses')).status, 404);
  const tools = repeat(80_000, (i) => ({ type: 'function', function: { name: `t${i}` } }));
  assert.equal((await ask({ messages: [{ role: 'user', content: 'x' }], tools })).status, 400);
  const ids = repeat(9000, (i) => `c${i}`);
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'a', arguments: '{}' } }));
  const results = ids.toReversed().map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: null, tool_calls: calls },
    ...results,
  ];
  assert.equal((await ask({ messages: [...messages, { role: 'user', content: 'x' }] })).status, 404);
  assertAttack(t, 143, ['blocked', 'contained']);
});

test(
  '[attack 144] references to items count as the items, and each item can be referenced once',
  hangGuard,
  async (t) => {
    const { request } = await createApiFixture(t, {
      script: () => 'A'.repeat(300_000),
      bounds: { bodyBytes: 700_000 },
    });
    const ask = (input: unknown): Promise<ApiReply> => request('POST /v1/responses', { as: 'runner', body: { input } });
    const createItem = async (): Promise<JsonObject> => {
      const { body } = await ask('x');
      const [item] = (body as { readonly output: readonly [{ readonly id: string }] }).output;
      return { type: 'item_reference', id: item.id };
    };
    const [one, two, three] = [await createItem(), await createItem(), await createItem()];
    const user = { role: 'user', content: 'x' };
    assert.equal((await ask([user, one, user, two, user])).status, 200);
    assert.match(errorText(await ask([user, one, user, two, user, three, user])), /more than 700000 characters/);
    assert.match(errorText(await ask([user, ...repeat(2000, () => one), user])), /referenced twice/);
    assertAttack(t, 144, ['blocked']);
  },
);

test('[attack 145] a list of large runs is cut, and continues with the next request', hangGuard, async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  const prompt = 'A'.repeat(900_000);
  for (let i = 0; i < 5; i++)
    await request('POST /api/runs', { as: 'runner', body: { runs: repeat(4, () => ({ prompt })) } });
  const ids: string[] = [];
  let before = '';
  for (let pages = 0; pages < 20; pages++) {
    const { body } = await request(`GET /api/runs?limit=1000${before && `&before=${before}`}`, { as: 'reader' });
    const { runs, next } = body as { readonly runs: readonly { readonly id: string }[]; readonly next?: string };
    assert.ok(JSON.stringify(body).length < 5_000_000);
    ids.push(...runs.map(({ id }) => id));
    if (next === undefined) break;
    before = next;
  }
  assert.equal(new Set(ids).size, 20);
  assert.equal(ids.length, 20);
  assertAttack(t, 145, ['contained']);
});

test(
  '[attack 148] a schedule or a queued run of a runner does not write into a session that became automatic',
  hangGuard,
  async (t) => {
    const { request, store, waitForStatus } = await createApiFixture(t);
    const start = async (as: 'runner' | 'operator', body: JsonObject): Promise<string> => {
      const reply = await request('POST /api/runs', { as, body });
      const { run } = reply.body as { readonly run: { readonly id: string } };
      await waitForStatus(run.id, 'ended');
      return run.id;
    };
    await start('runner', { prompt: 'first', session: 'shared' });
    const schedule = { cron: '0 0 1 1 *', run: { prompt: 'injected', session: 'shared' } };
    assert.ok((await request('PUT /api/schedules/x', { as: 'runner', body: schedule })).status < 300);
    await start('operator', { prompt: 'automatic', session: 'shared', auto: true });
    // The store queues the run of a schedule as it was saved.
    const [saved] = await store.queue.schedules();
    assert.ok(saved);
    const [fired] = await store.queue.enqueue([saved.run]);
    const ended = await waitForStatus(fired?.id ?? '', 'ended');
    assert.equal(ended.outcome?.error?.code, 'fleet/session-rights');
    // A later run of the operator without `auto` does not open the session again.
    await start('operator', { prompt: 'careful', session: 'shared' });
    const messages = [{ role: 'user', parts: [{ type: 'text', text: 'written by the runner' }] }];
    assert.equal((await request('POST /api/sessions/shared/edit', { as: 'runner', body: { messages } })).status, 403);
    assert.equal(
      (await request('POST /api/runs', { as: 'runner', body: { prompt: 'x', session: 'shared' } })).status,
      403,
    );
    const { body } = await request('GET /api/sessions/shared/messages');
    assert.ok(!JSON.stringify(body).includes('injected'));
    assertAttack(t, 148, ['blocked']);
  },
);

test('[attack 150] one tenant gets a quarter of the streams, and the others keep theirs', hangGuard, async (t) => {
  const key = 'a-key-of-the-tenant-acme';
  const { request, url } = await createApiFixture(t, {
    worker: false,
    extraKeys: `runner@acme:${key}`,
    bounds: { streams: 8 },
  });
  const asTenant = { authorization: `Bearer ${key}` };
  const queued = await request('POST /api/runs', { as: 'nobody', headers: asTenant, body: { prompt: 'x' } });
  const { stream } = queued.body as { readonly stream: string };
  const gone = new AbortController();
  t.after(() => gone.abort());
  const open = (authorization: string): Promise<Response> =>
    fetch(`${url}${stream}`, { headers: { authorization }, signal: gone.signal });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await open(asTenant.authorization)).status);
  assert.deepEqual(statuses, [200, 200, 503, 503]);
  assert.equal((await open(`Bearer ${roleKeys.operator}`)).status, 200);
  gone.abort();
  const retried = new AbortController();
  t.after(() => retried.abort());
  await eventually('the slots are free again', async () => {
    const { status } = await fetch(`${url}${stream}`, { headers: asTenant, signal: retried.signal });
    return status === 200;
  });
  assertAttack(t, 150, ['blocked']);
});
