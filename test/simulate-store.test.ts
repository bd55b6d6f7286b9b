// Conformance of the store of the simulation, by the suite of the real stores.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { systemPort, type FleetStore } from '../src/core/index.ts';
import { createPartialTextChannel } from '../src/stores/partial-text.ts';
import type { CreateMessageBus } from '../src/stores/partial-text-protocol.ts';
import { openModelStore, type StoreProcess } from '../simulate/store.ts';
import { createStoreState } from '../simulate/store-state.ts';
import { storeConformance } from './support/store-conformance.ts';

/** A process without faults, in real time: a call takes a turn of the event loop. */
const createDirectProcess = (name: string): StoreProcess => ({
  name,
  port: systemPort,
  deliver: (ms, fire) => systemPort.timer(ms, fire),
  async call({ act }) {
    await new Promise(setImmediate);
    return act();
  },
});

/** Delivers the messages of the processes of one store. */
function createBuses(): CreateMessageBus {
  const receivers = new Map<string, (text: string) => void>();
  return (ownId, receive) => ({
    setListening: (isListening) => void (isListening ? receivers.set(ownId, receive) : receivers.delete(ownId)),
    async send(messages) {
      for (const { to, text } of messages)
        for (const [id, deliver] of receivers)
          if (id !== ownId && (to === undefined || to === id)) setImmediate(deliver, text);
    },
  });
}

storeConformance('simulated', async (t: TestContext) => {
  const state = createStoreState({
    now: Date.now,
    leaseMs: 10_000,
    retryMs: 1,
    maxWorkerLosses: 3,
    isProcessDead: () => false,
  });
  const createBus = createBuses();
  let count = 0;
  return async (): Promise<FleetStore> => {
    const store = openModelStore(state, createDirectProcess(`p${(count += 1)}`), {
      partialText: createPartialTextChannel(createBus),
    });
    t.after(() => store.close());
    return store;
  };
});

test('[A52] a crash of the simulated store loses the last writes that are not durable, and no durable one', () => {
  const now = (): number => 0;
  const { tables, runs, crash } = createStoreState({
    now,
    leaseMs: 1000,
    retryMs: 1,
    maxWorkerLosses: 3,
    isProcessDead: () => false,
  });
  tables.transact(false, () => runs.add({ id: 'a', prompt: '' }));
  tables.transact(true, () => runs.add({ id: 'b', prompt: '' }));
  for (const id of ['c', 'd', 'e']) tables.transact(false, () => runs.add({ id, prompt: '' }));
  assert.equal(tables.unsynced(), 3);
  crash(2);
  assert.deepEqual(
    tables.runs.rows().map(({ id }) => id),
    ['a', 'b', 'c'],
  );
  assert.throws(() =>
    tables.transact(true, () => {
      runs.add({ id: 'f', prompt: '' });
      throw new Error('It fails.');
    }),
  );
  assert.equal(tables.runs.get('f'), undefined, 'a change that throws is undone');
});
