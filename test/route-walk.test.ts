// Walks every route of the server with every role and every pair of tenants: what belongs to another tenant cannot be told from what does not exist, and is not changed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { zeroUsage, type FleetRun, type FleetStore, type RunSettlement, type RunStats } from '../src/core/index.ts';
import { listenMcpHttp } from '../src/server/mcp/index.ts';
import { createApiKeys, startApiServer, type ApiKey, type Role } from '../src/server/index.ts';
import { apiRoutes } from '../src/server/http/routes/index.ts';
import { openFleetStore } from '../src/stores/index.ts';
import { assertAttack } from './support/attack-report.ts';
import {
  createSubjectPool,
  createSubjects,
  fingerprint,
  owners,
  recordTemplates,
  secretOf,
  type Owner,
  type Subject,
} from './support/route-subjects.ts';
import { routeTable, type WalkRequest, type WalkSubject } from './support/route-table.ts';

type Route = (typeof apiRoutes)[number];
type Caller = { readonly role: Role | 'none' | 'wrong'; readonly tenant?: string; readonly key: string };

const roles = ['reader', 'runner', 'operator'] as const;
const callers: readonly Caller[] = [
  { role: 'none', key: '' },
  { role: 'wrong', key: 'a-key-that-does-not-exist' },
  ...roles.flatMap((role) =>
    [undefined, 'acme', 'bolt'].map((tenant) => ({
      role,
      key: `a-key-of-${role}-${tenant ?? 'all'}`,
      ...(tenant === undefined ? {} : { tenant }),
    })),
  ),
];

type Reply = { readonly status: number; readonly text: string };

async function send(
  url: string,
  route: Route,
  request: WalkRequest,
  caller: Caller,
  subject: WalkSubject,
): Promise<Reply> {
  const end = new AbortController();
  const body = request.body?.(subject);
  const answer = await fetch(url + request.address(subject), {
    method: route.method.toUpperCase(),
    signal: end.signal,
    headers: {
      ...(caller.key === '' ? {} : { authorization: `Bearer ${caller.key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers?.(subject),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!(answer.headers.get('content-type') ?? '').startsWith('text/event-stream'))
    return { status: answer.status, text: await answer.text() };
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  end.abort();
  return { status: answer.status, text: new TextDecoder().decode(first?.value) };
}

/** The status that the table predicts; `subject` is undefined if the request names something that does not exist. */
function predict({ role }: Route, request: WalkRequest, caller: Caller, subject: Subject | undefined): number {
  if (role === 'public') return request.ok;
  if (caller.role === 'none' || caller.role === 'wrong') return 401;
  if (roles.indexOf(caller.role) < roles.indexOf(role)) return 403;
  if (request.fleetWide && caller.tenant !== undefined) return 403;
  if (request.subject === undefined) return request.ok;
  if (!subject || !isVisible(caller, subject.owner))
    return (caller.tenant === undefined ? request.missingWithoutTenant : undefined) ?? request.missing ?? 404;
  return request.instructs && subject.auto && caller.role !== 'operator' ? 403 : request.ok;
}

const isVisible = ({ tenant, role }: Caller, owner: Owner): boolean =>
  role !== 'none' && role !== 'wrong' && (tenant === undefined || tenant === owner);

async function openWalkedServer(t: TestContext): Promise<{ readonly store: FleetStore; readonly url: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-walk-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  const keys = callers.flatMap(({ role, ...each }): readonly ApiKey[] =>
    role === 'none' || role === 'wrong' ? [] : [{ role, ...each }],
  );
  const rate = { burst: 1_000_000, perSecond: 1_000_000 };
  const server = await startApiServer({
    store,
    keys: createApiKeys(keys),
    version: '0.0.0',
    port: 0,
    folder,
    models: async () => ['scripted'],
    limits: { rate, anonymousRate: rate, firstChunkMs: 1 },
  });
  t.after(async () => {
    await server.close(0);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, url: server.url };
}

const keyOf = ({ method, path: pattern }: Route): string => `${method} ${pattern}`;

test('the table of requests names every route of the server, and no other', () => {
  assert.deepEqual(Object.keys(routeTable).toSorted(), apiRoutes.map(keyOf).toSorted());
});

test('[attack 98] [attack 99] every route, with every role and every pair of tenants, shows and changes only what the key may', async (t) => {
  const { store, url } = await openWalkedServer(t);
  const create = createSubjects(store, await recordTemplates(t));
  const subjects = createSubjectPool(store, create);
  // Things of every owner, which lists could show.
  for (const owner of owners) {
    await create(owner, 'ended', false);
    await store.ledger.setBudget({ tenant: owner, period: 'ever', usd: 1 });
  }
  const fingerprints = new Map<Subject, string>();
  let requests = 0;
  let variants = 0;
  let absentCount = 0;
  const createAbsent = (): WalkSubject => {
    const name = `thing-x${String(absentCount++).padStart(5, '0')}`;
    return { run: name, session: name, schedule: name, call: 'none' };
  };
  for (const route of apiRoutes)
    for (const request of routeTable[keyOf(route)] ?? []) {
      variants++;
      for (const caller of callers) {
        const check = async (named: WalkSubject, subject?: Subject): Promise<Reply> => {
          const isForeign = subject !== undefined && !isVisible(caller, subject.owner);
          const before = isForeign ? (fingerprints.get(subject) ?? (await fingerprint(store, subject))) : '';
          const reply = await send(url, route, request, caller, named);
          requests++;
          const what = subject ? `${subject.owner}${subject.auto ? ' auto' : ''}` : 'nothing';
          const told = `${keyOf(route)}: ${request.title} as ${caller.role}@${caller.tenant ?? 'all'} on ${what}: ${reply.status} ${reply.text.slice(0, 300)}`;
          assert.equal(reply.status, predict(route, request, caller, subject), told);
          const shown = owners.filter((owner) => !isVisible(caller, owner) && reply.text.includes(secretOf(owner)));
          assert.deepEqual(shown, [], `shows what belongs to others: ${told}`);
          if (isForeign) {
            assert.equal(await fingerprint(store, subject), before, `changes a foreign thing: ${told}`);
            fingerprints.set(subject, before);
          }
          if (request.fleetWide && reply.status < 400) await store.killSwitch.resume('the test');
          return reply;
        };
        const absent = createAbsent();
        const missing = await check(absent);
        if (request.subject === undefined) continue;
        // Without a valid key a request is refused before anything is looked up.
        const isKnown = caller.role !== 'none' && caller.role !== 'wrong';
        for (const owner of isKnown ? owners : owners.slice(0, 1))
          for (const auto of isKnown && request.instructs ? [false, true] : [false]) {
            const subject = await subjects.take(owner, request.subject, auto);
            const reply = await check(subject, subject);
            // The fingerprint shows that other callers have not changed it.
            const mayChange = isVisible(caller, owner) || request.creates;
            if (mayChange && route.method.toUpperCase() !== 'GET') await subjects.discard(subject);
            if (mayChange) continue;
            const hidden = reply.text.replaceAll(subject.run, absent.run).replaceAll(subject.call, absent.call);
            assert.ok(
              hidden === missing.text,
              `${keyOf(route)}: a foreign thing differs from a missing one: ${hidden.slice(0, 300)} ${missing.text.slice(0, 300)}`,
            );
          }
      }
    }
  t.diagnostic(
    `${apiRoutes.length} routes in ${variants} variants, ${roles.length} roles, 3 tenants of keys, 3 owners and nothing: ${requests} requests`,
  );
  assertAttack(t, 98, ['blocked'], `${requests} requests`);
  assertAttack(t, 99, ['blocked']);
});

test('[attack 98] figures, workers and budgets of a tenant do not depend on other tenants', async (t) => {
  const { store, url } = await openWalkedServer(t);
  const ended = { reason: 'answered', text: '', spent: { ...zeroUsage, usd: 7 } } as const;
  const handle = async ({ id, tenant }: FleetRun): Promise<RunSettlement> =>
    id.startsWith('wait')
      ? { type: 'waiting', pendingApprovals: [{ call: 'c', tool: 'act', question: secretOf(tenant as Owner) }] }
      : { type: 'completed', outcome: ended };
  await store.queue.enqueue(
    (['acme', 'bolt', 'bolt', 'bolt'] as const).flatMap((tenant, i) => [
      { id: `wait-${i}`, prompt: secretOf(tenant), tenant },
      { id: `end-${i}`, prompt: 'x', tenant },
      { id: `later-${i}`, prompt: 'x', tenant, notBefore: new Date(Date.now() + 3_600_000).toISOString() },
    ]),
  );
  await store.queue.work({ worker: 'w', concurrency: 4, drain: true, signal: new AbortController().signal, handle });
  const info = { breakers: [{ model: 'm', state: 'open' }] };
  await store.workers.heartbeat({ worker: 'w', host: 'h', pid: 1, version: '1', startedAt: '', running: 4, info });
  for (const tenant of owners) await store.ledger.setBudget({ tenant, period: 'ever', usd: 1 });
  const read = async (tenant: string, address: string): Promise<string> => {
    const headers = { authorization: `Bearer a-key-of-reader-${tenant}` };
    return (await fetch(url + address, { headers })).text();
  };
  const readJson = async <T>(tenant: string, address: string): Promise<T> =>
    JSON.parse(await read(tenant, address)) as T;
  for (const [tenant, count] of Object.entries({ acme: 1, bolt: 3, all: 4 })) {
    const queue = await readJson<QueueReply>(tenant, '/api/queue');
    assert.deepEqual([queue.depth.queued, queue.depth.waiting], [count, count], tenant);
    assert.equal(queue.workers[0]?.running, tenant === 'all' ? 4 : 0);
    const health = await readJson<QueueReply & { readonly rates: { readonly ended: number } }>(tenant, '/api/health');
    assert.deepEqual([health.depth.queued, health.rates.ended], [count, count], tenant);
    const { stats } = await readJson<{ readonly stats: readonly RunStats[] }>(tenant, '/api/health/history');
    assert.equal(
      stats.reduce((sum, { usd }) => sum + usd, 0),
      7 * count,
      tenant,
    );
    const { approvals } = await readJson<{ readonly approvals: readonly unknown[] }>(tenant, '/api/approvals');
    assert.equal(approvals.length, count, tenant);
    const { budgets } = await readJson<{ readonly budgets: readonly unknown[] }>(tenant, '/api/budgets');
    assert.equal(budgets.length, tenant === 'all' ? 3 : 1, tenant);
    const metrics = await read(tenant, '/metrics');
    assert.match(metrics, new RegExp(`state="waiting"\\} ${count}\\n|waiting\\S* ${count}\\n`), metrics.slice(0, 500));
    assert.equal(metrics.includes('host="h"') || JSON.stringify(queue).includes('"h"'), tenant === 'all', tenant);
  }
  assertAttack(t, 98, ['blocked']);
});

type QueueReply = {
  readonly depth: { readonly queued: number; readonly waiting: number };
  readonly workers: readonly { readonly running: number }[];
};

test('the MCP endpoint has one token and no tenants: without the token every path is 401, with it only /mcp exists', async (t) => {
  const server = await listenMcpHttp(
    () => assert.fail('no request may reach the server'),
    0,
    () => undefined,
    'a-token',
  );
  t.after(() => server.close());
  let tried = 0;
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
    for (const place of ['/mcp', '/', '/api/runs', '/mcp/../api'])
      for (const key of [undefined, 'wrong', ...callers.map((caller) => caller.key), 'a-token']) {
        if (key === 'a-token' && place === '/mcp') continue;
        const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
        const { status } = await fetch(new URL(place, server.url), { method, headers });
        assert.equal(status, key === 'a-token' ? 404 : 401, `${method} ${place} with ${key}`);
        tried++;
      }
  t.diagnostic(`${tried} requests`);
});
