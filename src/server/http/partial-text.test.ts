// Tests of partial text for subscribers: sent within its turn, complete for a late subscriber, never of two attempts at once.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Fact, FleetStore, PartialText, Log } from '../../core/index.ts';
import { openTempFleetStore } from '../../../test/support/fleet-store.ts';
import { eventually } from '../../../test/support/api-server.ts';
import { createSessionBroadcaster } from './session-broadcaster.ts';
import type { BufferLimits, SessionMessage } from './replay-buffer.ts';

/** A subscriber and what it received: events by type, chunks as `turn:text`, with `<` before a restarted one. */
type Subscriber = { readonly received: string[]; readonly receives: (item: string) => Promise<void> };

type BroadcastSetup = {
  readonly store: FleetStore;
  readonly append: (...facts: Fact[]) => Promise<void>;
  readonly subscribe: (from?: number, slow?: Promise<void>) => Subscriber;
};

async function createBroadcastSetup(
  t: TestContext,
  startSeq = 0,
  limits?: BufferLimits,
  before: readonly Fact[] = [],
): Promise<BroadcastSetup> {
  const store = await openTempFleetStore(t);
  const log: Log = await store.sessions.open('s');
  let tail = 0;
  const append = async (...facts: Fact[]): Promise<void> => {
    tail = (await log.append(tail, facts)).at(-1)?.seq ?? tail;
  };
  if (before.length > 0) await append(...before);
  const broadcaster = createSessionBroadcaster(store, { session: 's' }, startSeq, assert.fail, limits);
  const disconnect = new AbortController();
  t.after(async () => {
    disconnect.abort();
    await broadcaster.close();
    await log.close();
  });
  const subscribe = (from = 0, slow?: Promise<void>): Subscriber =>
    createSubscriber(broadcaster.subscribe(from, disconnect.signal), slow);
  return { store, append, subscribe };
}

function createSubscriber(batches: AsyncIterable<readonly SessionMessage[]>, slow = Promise.resolve()): Subscriber {
  const received: string[] = [];
  void (async () => {
    for await (const batch of batches) {
      for (const message of batch)
        if (message.type === 'chunk') {
          const { restarted, turn, text } = message.chunk;
          received.push(`${restarted ? '<' : ''}${turn}:${text}`);
        } else if (message.type === 'event') received.push(message.event.type);
      await slow;
    }
  })();
  const receives = (item: string): Promise<void> =>
    eventually(`${item} in ${received.join(' ')}`, async () => received.includes(item));
  return { received, receives };
}

const turnStartedFact = (turn: number): Fact => ({ type: 'turn-started', turn, inputs: [], notes: [] });
const turnFailedFact = (turn: number): Fact => ({
  type: 'turn-failed',
  turn,
  error: { code: 'provider/cut', message: 'cut', blame: 'provider', retry: true },
  ms: 1,
});
const remarkFact = (key: string): Fact => ({ type: 'annotation-added', key, value: 1 });
const liveText = (turn: number, since: number, text: string): PartialText => ({ turn, since, text });

test('[A93] text is held until the event that starts its turn, and none follows the event that ends it', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t);
  const one = subscribe();
  store.partialText.publish('s', liveText(1, 1, 'ear'));
  store.partialText.publish('s', liveText(1, 1, 'ly'));
  await append(turnStartedFact(1));
  await one.receives('1:early');
  await append(turnFailedFact(1));
  await one.receives('turn-failed');
  store.partialText.publish('s', liveText(1, 1, ' and late'));
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 3, 'next'));
  await one.receives('2:next');
  assert.deepEqual(one.received, ['turn-started', '1:early', 'turn-failed', 'turn-started', '2:next']);
});

test('[A93] text of an interrupted turn is retracted when the next turn starts; later text of its worker is dropped', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t);
  const one = subscribe();
  await append(turnStartedFact(1));
  store.partialText.publish('s', liveText(1, 1, 'old'));
  await one.receives('1:old');
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 2, 'new'));
  await one.receives('2:new');
  store.partialText.publish('s', liveText(1, 1, ' words'));
  await append(remarkFact('end'));
  await one.receives('annotation-added');
  assert.deepEqual(one.received, ['turn-started', '1:old', '<1:', 'turn-started', '2:new', 'annotation-added']);
});

test('[A93] a subscriber that connects in the middle of a turn gets all of its text, whatever happened before', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t);
  const one = subscribe();
  await append(turnStartedFact(1));
  store.partialText.publish('s', liveText(1, 1, 'some '));
  await one.receives('1:some ');
  await append(remarkFact('between'));
  await one.receives('annotation-added');
  store.partialText.publish('s', liveText(1, 1, 'more '));
  await one.receives('1:more ');
  const [late, later] = [subscribe(), subscribe(2)];
  await Promise.all([late.receives('1:some more '), later.receives('1:some more ')]);
  store.partialText.publish('s', liveText(1, 1, 'end'));
  await Promise.all([one, late, later].map((each) => each.receives('1:end')));
  assert.deepEqual(late.received, ['turn-started', 'annotation-added', '1:some more ', '1:end']);
  assert.deepEqual(later.received, ['1:some more ', '1:end']);
});

test('[A93] a subscriber that falls behind gets the complete text again, and misses no event', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t, 0, { items: 3, chars: 100_000 });
  const [one, go] = [subscribe(), Promise.withResolvers<void>()];
  const slow = subscribe(0, go.promise);
  await append(turnStartedFact(1));
  await Promise.all([one.receives('turn-started'), slow.receives('turn-started')]);
  let all = '';
  for (let i = 0; i < 10; i++) {
    store.partialText.publish('s', liveText(1, 1, `${i} `));
    await one.receives(`1:${i} `);
    all += `${i} `;
    if (i % 3 === 0) await append(remarkFact('r'));
  }
  go.resolve();
  await slow.receives(`<1:${all}`);
  assert.equal(slow.received.filter((each) => each === 'annotation-added').length, 4);
});

test('[A93] a subscriber that starts after the end of a turn does not get late text of it', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t, 3, undefined, [
    turnStartedFact(1),
    turnFailedFact(1),
    remarkFact('end'),
  ]);
  store.partialText.publish('s', liveText(1, 1, 'late'));
  const one = subscribe(3);
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 4, 'next'));
  await one.receives('2:next');
  assert.deepEqual(one.received, ['turn-started', '2:next']);
});

test('[A93] many chunks of text are merged into few messages, and no text is lost', async (t) => {
  const { store, append, subscribe } = await createBroadcastSetup(t);
  const one = subscribe();
  await append(turnStartedFact(1));
  await one.receives('turn-started');
  for (let i = 0; i < 20_000; i++) store.partialText.publish('s', liveText(1, 1, 'word '));
  await append(turnFailedFact(1));
  await one.receives('turn-failed');
  assert.deepEqual(one.received, ['turn-started', `1:${'word '.repeat(20_000)}`, 'turn-failed']);
});
