// Tests of the reasons why open runs of a queue are blocked.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun, FleetStore, ApprovalQuestion } from '../core/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { getBlockReason, listOpenRuns, summarizeBlockedRuns } from './blocked-runs.ts';

/** Makes every queued run wait, with the pending approvals that `questions` returns. */
async function suspendAll(
  { queue }: FleetStore,
  questions: (run: FleetRun) => readonly ApprovalQuestion[],
): Promise<void> {
  await queue.work({
    worker: 'w',
    concurrency: 1,
    drain: true,
    signal: new AbortController().signal,
    handle: async (run) => ({ type: 'waiting', pendingApprovals: questions(run) }),
  });
}

const question: ApprovalQuestion = { call: 'c', tool: 't', question: 'May I?' };

const getReason = async (store: FleetStore, id: string): Promise<string | undefined> => {
  const run = await store.queue.run(id);
  return run && getBlockReason(store, run);
};

test(
  '[A85] a plan is blocked for the reason of its child runs, and is not blocked while one of them can continue',
  { timeout: 20_000 },
  async (t) => {
    const store = await openTempFleetStore(t);
    await store.queue.enqueue([
      { id: 'p', prompt: '', kind: 'plan' },
      { id: 'p/asks', prompt: '', parent: 'p' },
    ]);
    await suspendAll(store, ({ id }) => (id === 'p' ? [] : [question]));
    assert.equal(await getReason(store, 'p'), 'approval');
    await store.queue.enqueue([{ id: 'p/more', prompt: '', parent: 'p' }]);
    assert.equal(await getReason(store, 'p'), undefined);
  },
);

test(
  '[A85] runs that name each other or themselves as parents are not counted as blocked',
  { timeout: 20_000 },
  async (t) => {
    const store = await openTempFleetStore(t);
    await store.queue.enqueue([
      { id: 'self', prompt: '', parent: 'self' },
      { id: 'one', prompt: '', parent: 'two' },
      { id: 'two', prompt: '', parent: 'one' },
    ]);
    await suspendAll(store, () => []);
    for (const id of ['self', 'one', 'two']) assert.equal(await getReason(store, id), undefined, id);
    const { later, version, approval } = await summarizeBlockedRuns(store, await listOpenRuns(store));
    assert.deepEqual([later, version, approval], [0, 0, 0]);
  },
);
