// Conformance tests of what a queue finds and counts by the content of runs: settings that mention auto, and bytes.
import assert from 'node:assert/strict';
import type { FleetRun, JsonObject } from '../../src/core/index.ts';
import { findAutoRun } from '../../src/fleet/index.ts';
import type { RegisterConformanceTest } from './queue-conformance.ts';

const runIds = (runs: readonly FleetRun[]): readonly string[] => runs.map(({ id }) => id);

/** Registers the tests of the filter `mentionsAuto` and of `openBytes`. */
export function runFilterConformance(register: RegisterConformanceTest): void {
  register('runs whose settings mention auto are found, however many others there are', async (open) => {
    const { queue } = await open();
    const settings: readonly JsonObject[] = [
      { auto: true },
      { auto: false },
      {},
      { nested: { auto: true, model: 'm' } },
      { note: '"auto":true' },
      { note: String.raw`\"auto\":true` },
      { automatic: true },
      { model: 'a%_\\', auto: true },
      { auto: 'true' },
    ];
    await queue.enqueue(
      settings.map((each, i) => ({ id: `r${i}`, prompt: '"auto":true', session: 's', settings: each })),
    );
    await queue.enqueue([{ id: 'other', prompt: '', session: 'other', settings: { auto: true } }]);
    assert.deepEqual(runIds(await queue.list({ session: 's', mentionsAuto: true })), ['r7', 'r3', 'r0']);
    assert.deepEqual(runIds(await queue.list({ session: 's', mentionsAuto: true, limit: 1, before: 'r7' })), ['r3']);
    assert.deepEqual(runIds(await queue.list({ mentionsAuto: true, status: 'queued', limit: 2 })), ['other', 'r7']);
    await queue.enqueue(
      Array.from({ length: 40 }, (_, i) => ({
        id: `n${i}`,
        prompt: '',
        session: 's',
        settings: { nested: { auto: true } },
      })),
    );
    assert.equal((await findAutoRun(queue, 's'))?.id, 'r7', 'it is found behind pages of runs that only mention it');
    assert.equal(await findAutoRun(queue, 'none'), undefined);
  });

  register('the bytes of the open runs of a tenant are counted', async (open) => {
    const { queue } = await open();
    assert.equal(await queue.openBytes('acme'), 0);
    const [first] = await queue.enqueue([
      { prompt: 'é'.repeat(5000), tenant: 'acme', settings: { model: 'm'.repeat(300) } },
      { prompt: 'x'.repeat(9000), tenant: 'bolt' },
    ]);
    const bytes = await queue.openBytes('acme');
    assert.ok(bytes >= 10_300 + 1024 && bytes < 10_300 + 1024 + 100, String(bytes));
    await queue.cancel(first?.id ?? '', 'A test.');
    assert.equal(await queue.openBytes('acme'), 0);
    assert.ok((await queue.openBytes('bolt')) > 10_000);
  });
}
