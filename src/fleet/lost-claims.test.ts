// Tests of runs whose store crashed and lost its last writes: the claim of a run, or events of its log.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resolveAgent } from '../agent/index.ts';
import type { Event, Log } from '../core/index.ts';
import { scriptedProvider } from '../testing/index.ts';
import { createDriverContext, createDriverRun } from '../../test/support/driver-fixture.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { findPreviousAttempt } from './run-facts.ts';
import { createAgentRunHandler } from './run-handler.ts';

test('[A52] a run whose claim the store has lost is not started again: its log says that it has ended', async (t) => {
  const store = await openTempFleetStore(t);
  const parts = resolveAgent({ provider: scriptedProvider(['First.', 'Second.']), system: 'Work.' });
  const handler = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
  for (const attempt of ['handled', 'handled again after its claim was undone']) {
    const settlement = await handler(createDriverRun({ attempts: 1 }), createDriverContext(store));
    assert.equal(settlement.type === 'completed' && settlement.outcome.text, 'First.', attempt);
  }
  const log = await store.sessions.reader('s');
  const types: string[] = [];
  for await (const events of log.read()) types.push(...events.map(({ type }) => type));
  await log.close();
  assert.deepEqual(
    ['input-received', 'run-started', 'run-ended'].map((type) => types.filter((each) => each === type).length),
    [1, 1, 1],
  );
});

test('[A52] events that the store has lost after they were read are not waited for: the attempt fails and is repeated', async () => {
  const event: Event = { type: 'session-started', session: 's', seq: 1, id: '1', parent: null, time: '' };
  let fire: (() => void) | undefined;
  const log: Pick<Log, 'read' | 'follow'> = {
    async *read() {},
    async *follow(_from, signal) {
      yield event;
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve());
      // The timer fires twice: once after the first event, and once when no other one has come.
      fire?.();
      fire?.();
      await promise;
    },
  };
  const timer = (_ms: number, callback: () => void): (() => void) => {
    fire = callback;
    return () => {};
  };
  await assert.rejects(findPreviousAttempt(log, 2, 'r', { timer }), { code: 'store/lost-events', retry: true });
  assert.deepEqual(await findPreviousAttempt(log, 1, 'r', { timer }), { promptRecorded: false });
});
