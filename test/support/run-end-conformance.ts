// Conformance tests of run queues for messages at the end of a run, cancellation and pruning.
import assert from 'node:assert/strict';
import type { FleetRun, FleetStore, RunSettlement } from '../../src/core/index.ts';
import { endedResult, type RegisterConformanceTest } from './queue-conformance.ts';

/** Handles all runs with a function. */
const startWork = ({ queue }: FleetStore, handle: (run: FleetRun) => Promise<RunSettlement>): Promise<void> =>
  queue.work({ worker: 'w', concurrency: 1, drain: true, signal: AbortSignal.timeout(30_000), handle });

const waitingResult: RunSettlement = { type: 'waiting', pendingApprovals: [] };

/** Registers the tests of the end of runs. */
export function runEndConformance(register: RegisterConformanceTest): void {
  register(
    'a cancel message names its run, and a run that is about to wait is handled again to read it',
    async (open) => {
      const store = await open();
      await store.queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
      let attemptCount = 0;
      await startWork(store, async () => {
        attemptCount += 1;
        if (attemptCount === 1) await store.queue.cancel('one', 'enough');
        return waitingResult;
      });
      assert.equal(attemptCount, 2);
      const messages = (await store.inbox.read('s', 0)).map(({ message }) => message);
      assert.deepEqual(messages, [{ type: 'cancel', run: 'one' }]);
    },
  );

  register('a cancel reaches the child runs of a run, whether it waits or is running', async (open) => {
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
        return waitingResult;
      },
    });
    assert.equal((await queue.cancel('top', 'enough'))?.status, 'ended');
    const now = async (id: string): Promise<unknown> => (await queue.run(id))?.outcome?.reason;
    assert.deepEqual(
      [await now('child'), await now('grandchild'), await now('other')],
      ['cancelled', 'cancelled', undefined],
    );
  });

  register(
    '[A53] a run does not end before it has read a prompt that came while it ended, but does for other messages',
    async (open) => {
      const store = await open();
      const { queue, inbox } = store;
      await queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
      const attemptCount: number[] = [];
      await startWork(store, async ({ attempts }) => {
        attemptCount.push(attempts);
        // The first attempt has read its messages already; the second reads the new one, and gets one of another type.
        if (attempts === 1) await inbox.send('s', { type: 'follow-up', text: 'And the rest?' });
        else {
          const messages = await inbox.read('s', 0);
          if (messages.length > 0) await inbox.clear('s', messages.at(-1)?.position ?? 0);
          await inbox.send('s', { type: 'answer', call: 'c', allowed: true });
        }
        await queue.wake('one');
        return endedResult();
      });
      assert.deepEqual(attemptCount, [1, 2]);
      assert.equal((await queue.run('one'))?.status, 'ended');
    },
  );

  register('a run whose handler reads no messages still ends', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
    await store.inbox.send('s', { type: 'steer', text: 'left' });
    let attemptCount = 0;
    await startWork(store, async () => {
      attemptCount += 1;
      if (attemptCount === 1) await store.queue.wake('one');
      return endedResult();
    });
    assert.equal(attemptCount, 2);
  });

  register('old runs are deleted once they have ended, unless their parent continues', async (open) => {
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
        return id === 'top' ? waitingResult : endedResult();
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
