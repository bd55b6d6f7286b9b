// What every queue promises those who speak to a run at its end, cancel it, or clear away what is old: no word is lost, and none reaches another.
import assert from 'node:assert/strict';
import type { FleetRun, FleetStore, RunSettlement } from '../../src/core/index.ts';
import { endedResult, type RegisterConformanceTest } from './queue-conformance.ts';

/** Works on all there is; each run is handed to `drive` with how often it was taken. */
const startWork = ({ queue }: FleetStore, drive: (run: FleetRun) => Promise<RunSettlement>): Promise<void> =>
  queue.work({ worker: 'w', concurrency: 1, drain: true, signal: AbortSignal.timeout(30_000), handle: drive });

const suspendedResult: RunSettlement = { type: 'waiting', pendingApprovals: [] };

/** Registers what a queue promises at the end of runs. */
export function runEndConformance(promise: RegisterConformanceTest): void {
  promise('a cancel names its run, and a run that is about to rest is worked on again to read it', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
    let drives = 0;
    await startWork(store, async () => {
      drives += 1;
      if (drives === 1) await store.queue.cancel('one', 'enough');
      return suspendedResult;
    });
    assert.equal(drives, 2);
    const letters = (await store.inbox.read('s', 0)).map(({ message }) => message);
    assert.deepEqual(letters, [{ type: 'cancel', run: 'one' }]);
  });

  promise('a cancel reaches the runs that a run has begun, whether it rests or is under way', async (open) => {
    const store = await open();
    const { queue } = store;
    await queue.enqueue([
      { id: 'top', prompt: '' },
      { id: 'child', prompt: '', parent: 'top', notBefore: '2090-01-01T00:00:00.000Z' },
      { id: 'grandchild', prompt: '', parent: 'child', notBefore: '2090-01-01T00:00:00.000Z' },
      { id: 'other', prompt: '', parent: 'nobody', notBefore: '2090-01-01T00:00:00.000Z' },
    ]);
    const end = new AbortController();
    await queue.work({
      worker: 'w',
      concurrency: 1,
      signal: end.signal,
      async handle() {
        end.abort();
        return suspendedResult;
      },
    });
    assert.equal((await queue.cancel('top', 'enough'))?.status, 'ended');
    const now = async (id: string): Promise<unknown> => (await queue.run(id))?.outcome?.reason;
    assert.deepEqual(
      [await now('child'), await now('grandchild'), await now('other')],
      ['cancelled', 'cancelled', undefined],
    );
  });

  promise('[A53] a run does not end over words that came while it ended, and does over all others', async (open) => {
    const store = await open();
    const { queue, inbox } = store;
    await queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
    const drives: number[] = [];
    await startWork(store, async ({ attempts }) => {
      drives.push(attempts);
      // The first attempt has read its letters already; the second reads them, and is told something else.
      if (attempts === 1) await inbox.send('s', { type: 'follow-up', text: 'And the rest?' });
      else {
        const letters = await inbox.read('s', 0);
        if (letters.length > 0) await inbox.clear('s', letters.at(-1)?.position ?? 0);
        await inbox.send('s', { type: 'answer', call: 'c', allowed: true });
      }
      await queue.wake('one');
      return endedResult();
    });
    assert.deepEqual(drives, [1, 2]);
    assert.equal((await queue.run('one'))?.status, 'ended');
  });

  promise('a driver that reads no letters ends all the same', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
    await store.inbox.send('s', { type: 'steer', text: 'left' });
    let drives = 0;
    await startWork(store, async () => {
      drives += 1;
      if (drives === 1) await store.queue.wake('one');
      return endedResult();
    });
    assert.equal(drives, 2);
  });

  promise('what is old is forgotten once it has ended, unless a run that goes on has begun it', async (open) => {
    const store = await open();
    const { queue, sessions } = store;
    await queue.enqueue([
      { id: 'top', prompt: '' },
      { id: 'top/step', prompt: '', parent: 'top' },
      { id: 'alone', prompt: '' },
      { id: 'waits', prompt: '', notBefore: '2090-01-01T00:00:00.000Z' },
    ]);
    for (const session of ['top/step', 'alone', 'waits']) await (await sessions.open(session)).close();
    const end = new AbortController();
    await queue.work({
      worker: 'w',
      concurrency: 1,
      signal: end.signal,
      async handle({ id }) {
        if (id === 'alone') end.abort();
        return id === 'top' ? suspendedResult : endedResult();
      },
    });
    const later = new Date(Date.now() + 60_000).toISOString();
    assert.equal(await store.prune(new Date(0).toISOString()), 0);
    assert.equal(await store.prune(later), 1);
    const known = async (): Promise<readonly string[]> => (await queue.list()).map(({ id }) => id).toSorted();
    assert.deepEqual(await known(), ['top', 'top/step', 'waits']);
    assert.deepEqual((await sessions.list()).map(({ session }) => session).toSorted(), ['top/step', 'waits']);
    for (const id of ['top', 'waits']) await queue.cancel(id, '');
    assert.equal(await store.prune(later), 3);
    assert.deepEqual([await known(), await sessions.list()], [[], []]);
    await assert.rejects(store.prune('some day'), { code: 'queue/bad-time' });
  });
}
