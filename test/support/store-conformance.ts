// Conformance tests of fleet stores.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { InboxDelivery, FleetStore } from '../../src/core/index.ts';
import { concurrencyConformance } from './concurrency-conformance.ts';
import { partialTextConformance } from './partial-text-conformance.ts';
import { runEndConformance } from './run-end-conformance.ts';
import { queueConformance } from './queue-conformance.ts';
import { runFilterConformance } from './run-filter-conformance.ts';
import { sessionsConformance } from './sessions-conformance.ts';
import { runStatsConformance } from './run-stats-conformance.ts';
import { tenantConformance } from './tenant-conformance.ts';
import { workerConformance } from './worker-conformance.ts';

/**
 * Creates an empty store and returns a function that opens it; opened again, it is the same store as another process sees it.
 * It should retry failed runs after milliseconds. Opened stores are closed with the test.
 */
export type FreshStore = (t: TestContext) => Promise<() => Promise<FleetStore>>;

/** Registers the tests of a store; they are skipped with the reason in `skip`. */
export function storeConformance(name: string, fresh: FreshStore, options: { readonly skip?: string } = {}): void {
  const register = (title: string, work: (open: () => Promise<FleetStore>, t: TestContext) => Promise<void>): void =>
    void test(`${name}: ${title}`, { timeout: 60_000, ...options }, async (t) => work(await fresh(t), t));

  const freshSessions = async (t: TestContext) => {
    const open = await fresh(t);
    return async () => (await open()).sessions;
  };
  sessionsConformance(name, freshSessions, options);
  queueConformance(register);
  runFilterConformance(register);
  tenantConformance(register);
  workerConformance(register);
  runEndConformance(register);
  runStatsConformance(register);
  partialTextConformance(register);
  concurrencyConformance(register);

  register('messages of a session keep their order until they are cleared', async (open) => {
    const { inbox } = await open();
    const first = await inbox.send('a', { type: 'steer', text: 'left', by: 'me' });
    await inbox.send('b', { type: 'cancel' });
    const second = await (await open()).inbox.send('a', { type: 'answer', call: 'c', allowed: true, happened: true });
    assert.ok(second > first);
    const messages: readonly InboxDelivery[] = [
      { position: first, message: { type: 'steer', text: 'left', by: 'me' } },
      { position: second, message: { type: 'answer', call: 'c', allowed: true, happened: true } },
    ];
    assert.deepEqual(await inbox.read('a', 0), messages);
    assert.deepEqual(await inbox.read('a', first), messages.slice(1));
    await inbox.clear('a', first);
    assert.deepEqual(await inbox.read('a', 0), messages.slice(1));
    await inbox.clear('a', second);
    assert.ok((await inbox.send('a', { type: 'cancel' })) > second, 'a position is never used twice');
    assert.equal((await inbox.read('b', 0)).length, 1);
  });

  register('an inbox watcher gets the sessions of messages from any process', async (open) => {
    const { inbox } = await open();
    const other = await open();
    const end = new AbortController();
    const received: string[] = [];
    const watching = (async () => {
      for await (const session of inbox.watch(end.signal)) received.push(session);
    })();
    for (const [i, each] of [inbox, other.inbox, inbox].entries()) {
      // The watcher may not have started yet: send until a message is received.
      for (const session = `s${i}`; !received.includes(session);) {
        await each.send(session, { type: 'cancel' });
        for (let polls = 0; polls < 30 && !received.includes(session); polls++) await pause(10);
      }
    }
    end.abort();
    await watching;
  });

  register('[A53] removing a session removes its messages, and no others', async (open) => {
    const { sessions, inbox } = await open();
    for (const session of ['gone', 'kept']) {
      const log = await sessions.open(session);
      await log.append(0, [{ type: 'session-started', session }]);
      await log.close();
      await inbox.send(session, { type: 'steer', text: 'South' });
    }
    const held = await sessions.open('kept');
    await assert.rejects(sessions.remove('kept'), { code: 'store/locked' });
    await held.close();
    await sessions.remove('gone');
    assert.deepEqual([(await inbox.read('gone', 0)).length, (await inbox.read('kept', 0)).length], [0, 1]);
  });

  register(
    '[A95] the kill switch stays as it was set, for all processes and after the last has ended',
    async (open) => {
      const first = await open();
      assert.equal((await first.killSwitch.status()).stopped, false);
      const stopped = await first.killSwitch.stop('a leak', 'kim');
      assert.deepEqual([stopped.stopped, stopped.reason, stopped.by], [true, 'a leak', 'kim']);
      assert.equal(new Date(stopped.since ?? '').toISOString(), stopped.since);
      await first.close();
      const second = await open();
      assert.deepEqual(await second.killSwitch.status(), stopped);
      const resumed = await second.killSwitch.resume('lee');
      assert.deepEqual([resumed.stopped, resumed.by, resumed.reason], [false, 'lee', undefined]);
      assert.deepEqual(await (await open()).killSwitch.status(), resumed);
    },
  );

  register('[A95] a kill switch that cannot be read counts as stopped', async (open) => {
    const store = await open();
    await store.close();
    const { stopped, reason } = await store.killSwitch.status();
    assert.equal(stopped, true);
    assert.match(reason ?? '', /cannot be read/);
  });

  register('[A64] a tenant cannot spend more than its budget, even with concurrent calls', async (open) => {
    const { ledger } = await open();
    const other = await open();
    await ledger.setBudget({ tenant: 'acme', period: 'day', usd: 1 });
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? ledger : other.ledger).reserve('acme', `h${i}`, { usd: 0.1, tokens: 5 }),
      ),
    );
    assert.equal(results.filter((reason) => reason === undefined).length, 10);
    for (const reason of results) assert.match(reason ?? 'acme may spend $1', /^acme may spend \$1/);
    const [budget] = await ledger.budgets();
    assert.deepEqual([budget?.tenant, budget?.period, budget?.usd], ['acme', 'day', 1]);
    assert.ok(Math.abs((budget?.reserved.usd ?? 0) - 1) < 1e-6);
    assert.deepEqual(budget?.spent, { usd: 0, tokens: 0 });
    assert.equal(
      await ledger.reserve('other', 'h', { usd: 100, tokens: 1e9 }),
      undefined,
      'without a budget there is no limit',
    );
  });

  register(
    '[A64] a reservation is committed once with the amount spent; an uncommitted one stays reserved',
    async (open) => {
      const { ledger } = await open();
      await ledger.setBudget({ tenant: 'acme', period: 'ever', usd: 1, tokens: 100 });
      const maxAmount = { usd: 0.6, tokens: 60 };
      assert.equal(await ledger.reserve('acme', 'a', maxAmount), undefined);
      assert.equal(await ledger.reserve('acme', 'a', maxAmount), undefined, 'a repeated reservation counts once');
      assert.match((await ledger.reserve('acme', 'b', { usd: 0, tokens: 41 })) ?? '', /^acme may use 100 tokens/);
      await ledger.commit('acme', 'a', { usd: 0.25, tokens: 20 });
      await ledger.commit('acme', 'a', { usd: 0.25, tokens: 20 });
      assert.equal(await ledger.reserve('acme', 'b', { usd: 0.5, tokens: 80 }), undefined);
      assert.match((await ledger.reserve('acme', 'c', { usd: 0.3, tokens: 0 })) ?? '', /spent or reserved/);
      const [budget] = await (await open()).ledger.budgets();
      assert.deepEqual(
        [budget?.spent, budget?.reserved],
        [
          { usd: 0.25, tokens: 20 },
          { usd: 0.5, tokens: 80 },
        ],
      );
      await ledger.setBudget({ tenant: 'acme', period: 'ever' });
      assert.deepEqual(await ledger.budgets(), []);
      assert.equal(await ledger.reserve('acme', 'c', { usd: 9, tokens: 0 }), undefined);
    },
  );

  register('the worker registry lists workers with a recent heartbeat that have not left', async (open) => {
    const { workers } = await open();
    const startedAt = new Date().toISOString();
    const kim = { worker: 'kim', host: 'h', pid: 1, version: '1', startedAt, running: 0, info: {} };
    await workers.heartbeat(kim);
    await workers.heartbeat({ ...kim, worker: 'lee', info: { breakers: ['open'] } });
    await workers.heartbeat({ ...kim, running: 3 });
    const list = await (await open()).workers.list();
    assert.deepEqual(
      list.map(({ lastSeenAt: _, ...entry }) => entry),
      [
        { ...kim, running: 3 },
        { ...kim, worker: 'lee', info: { breakers: ['open'] } },
      ],
    );
    assert.ok(list.every(({ lastSeenAt }) => Date.parse(lastSeenAt) >= Date.parse(startedAt) - 1));
    await workers.deregister('kim');
    assert.deepEqual(
      (await workers.list()).map(({ worker }) => worker),
      ['lee'],
    );
  });

  register('a store responds to ping while it is open, and its description has no secrets', async (open) => {
    const store = await open();
    await store.ping();
    assert.match(store.description, /^\w+ /);
    assert.doesNotMatch(store.description, /:[^/]*@/);
    await store.close();
    await assert.rejects(store.ping());
    await store.close();
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
