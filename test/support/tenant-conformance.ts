// Conformance tests of the tenants of a fleet store: sessions, queue figures and statistics of one tenant.
import assert from 'node:assert/strict';
import { zeroUsage, type FleetStore } from '../../src/core/index.ts';

type Register = (title: string, work: (open: () => Promise<FleetStore>) => Promise<void>) => void;

/** Registers the tests. */
export function tenantConformance(register: Register): void {
  register('a session belongs to the tenant that opened it first, and another tenant cannot open it', async (open) => {
    const { sessions } = await open();
    await (await sessions.open('a', { tenant: 'acme' })).close();
    await (await sessions.open('b', { tenant: 'bolt' })).close();
    await (await sessions.open('c')).close();
    const other = await open();
    await assert.rejects(other.sessions.open('a', { tenant: 'bolt' }), { code: 'store/other-tenant' });
    await assert.rejects(other.sessions.open('a', { tenant: 'bolt', force: true }), { code: 'store/other-tenant' });
    await (await other.sessions.open('a', { tenant: 'acme' })).close();
    await (await other.sessions.open('a')).close();
    assert.equal((await sessions.find('a'))?.tenant, 'acme');
    assert.equal((await sessions.find('c'))?.tenant, undefined);
    assert.equal(await sessions.find('d'), undefined);
    const names = async (tenant?: string): Promise<readonly string[]> =>
      (await sessions.list(tenant === undefined ? {} : { tenant })).map(({ session }) => session).toSorted();
    assert.deepEqual([await names('acme'), await names('bolt'), await names('none')], [['a'], ['b'], []]);
    assert.deepEqual(await names(), ['a', 'b', 'c']);
  });

  register('the depth of a queue and the statistics can be read for one tenant', async (open) => {
    const { queue } = await open();
    const from = new Date(Date.now() - 60_000).toISOString();
    await queue.enqueue([
      { prompt: 'x', tenant: 'acme' },
      { prompt: 'x', tenant: 'bolt', id: 'b' },
      { prompt: 'x', tenant: 'bolt' },
    ]);
    await queue.cancel('b', 'A test.');
    const to = new Date(Date.now() + 60_000).toISOString();
    const count = async (tenant?: string): Promise<readonly (number | undefined)[]> => {
      const [stats] = await queue.stats(from, to, 120_000 + 60_000, tenant);
      const { queued, oldest } = await queue.depth(tenant);
      return [queued, oldest === undefined ? 0 : 1, stats?.ended, stats?.usd];
    };
    assert.deepEqual(await count(), [2, 1, 1, zeroUsage.usd]);
    assert.deepEqual(await count('acme'), [1, 1, 0, 0]);
    assert.deepEqual(await count('bolt'), [1, 1, 1, 0]);
    assert.deepEqual(await count('none'), [0, 0, 0, 0]);
  });
}
