// Words that are not settled, as those who watch see them: within their turn, whole for who comes late, and never of two attempts.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Fact, FleetStore, PartialText, Log } from '../../core/index.ts';
import { openTempFleetStore } from '../../../test/support/fleet-store.ts';
import { eventually } from '../../../test/support/api-server.ts';
import { createSessionBroadcaster } from './session-broadcaster.ts';
import type { BufferLimits } from './replay-buffer.ts';

/** One who watches, and what was shown: events by their kind, words as they are. */
type Watcher = { readonly shown: string[]; readonly sees: (what: string) => Promise<void> };

type BroadcastSetup = {
  readonly store: FleetStore;
  readonly append: (...facts: Fact[]) => Promise<void>;
  readonly watch: (from?: number, slow?: Promise<void>) => Watcher;
};

async function createBroadcastSetup(
  t: TestContext,
  begin = 0,
  keeping?: BufferLimits,
  before: readonly Fact[] = [],
): Promise<BroadcastSetup> {
  const store = await openTempFleetStore(t);
  const log: Log = await store.sessions.open('s');
  let tail = 0;
  const append = async (...facts: Fact[]): Promise<void> => {
    tail = (await log.append(tail, facts)).at(-1)?.seq ?? tail;
  };
  if (before.length > 0) await append(...before);
  const out = createSessionBroadcaster(store, { session: 's' }, begin, assert.fail, keeping);
  const leave = new AbortController();
  t.after(async () => {
    leave.abort();
    await out.close();
    await log.close();
  });
  return { store, append, watch: (from = 0, slow) => watcher(out.frames(from, leave.signal), slow) };
}

function watcher(frames: AsyncIterable<string>, slow = Promise.resolve()): Watcher {
  const shown: string[] = [];
  void (async () => {
    for await (const batch of frames) {
      for (const [, event, json = ''] of batch.matchAll(/event: (\w+)\ndata: (.*)\n/g)) {
        const data = JSON.parse(json) as { readonly type: string } & PartialText;
        shown.push(event === 'chunk' ? `${data.restarted ? '<' : ''}${data.turn}:${data.text}` : data.type);
      }
      await slow;
    }
  })();
  const sees = (what: string): Promise<void> =>
    eventually(`${what} in ${shown.join(' ')}`, async () => shown.includes(what));
  return { shown, sees };
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

test('[A93] words wait for the event that begins their turn, and none come after the one that ends it', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t);
  const one = watch();
  store.partialText.publish('s', liveText(1, 1, 'ear'));
  store.partialText.publish('s', liveText(1, 1, 'ly'));
  await append(turnStartedFact(1));
  await one.sees('1:early');
  await append(turnFailedFact(1));
  await one.sees('turn-failed');
  store.partialText.publish('s', liveText(1, 1, ' and late'));
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 3, 'next'));
  await one.sees('2:next');
  assert.deepEqual(one.shown, ['turn-started', '1:early', 'turn-failed', 'turn-started', '2:next']);
});

test('[A93] a turn that was broken off is taken back when the next begins; what its worker says later is not shown', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t);
  const one = watch();
  await append(turnStartedFact(1));
  store.partialText.publish('s', liveText(1, 1, 'old'));
  await one.sees('1:old');
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 2, 'new'));
  await one.sees('2:new');
  store.partialText.publish('s', liveText(1, 1, ' words'));
  await append(remarkFact('end'));
  await one.sees('annotation-added');
  assert.deepEqual(one.shown, ['turn-started', '1:old', '<1:', 'turn-started', '2:new', 'annotation-added']);
});

test('[A93] who comes in the middle of a turn is told all that it said, whatever happened in between', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t);
  const one = watch();
  await append(turnStartedFact(1));
  store.partialText.publish('s', liveText(1, 1, 'some '));
  await one.sees('1:some ');
  await append(remarkFact('between'));
  await one.sees('annotation-added');
  store.partialText.publish('s', liveText(1, 1, 'more '));
  await one.sees('1:more ');
  const [late, later] = [watch(), watch(2)];
  await Promise.all([late.sees('1:some more '), later.sees('1:some more ')]);
  store.partialText.publish('s', liveText(1, 1, 'end'));
  await Promise.all([one, late, later].map((each) => each.sees('1:end')));
  assert.deepEqual(late.shown, ['turn-started', 'annotation-added', '1:some more ', '1:end']);
  assert.deepEqual(later.shown, ['1:some more ', '1:end']);
});

test('[A93] who falls behind is told the whole once more, and misses no event', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t, 0, { items: 3, chars: 100_000 });
  const [one, go] = [watch(), Promise.withResolvers<void>()];
  const slow = watch(0, go.promise);
  await append(turnStartedFact(1));
  await Promise.all([one.sees('turn-started'), slow.sees('turn-started')]);
  let all = '';
  for (let i = 0; i < 10; i++) {
    store.partialText.publish('s', liveText(1, 1, `${i} `));
    await one.sees(`1:${i} `);
    all += `${i} `;
    if (i % 3 === 0) await append(remarkFact('r'));
  }
  go.resolve();
  await slow.sees(`<1:${all}`);
  assert.equal(slow.shown.filter((each) => each === 'annotation-added').length, 4);
});

test('[A93] who begins after the end of a turn is not shown words of it that come late', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t, 3, undefined, [
    turnStartedFact(1),
    turnFailedFact(1),
    remarkFact('end'),
  ]);
  store.partialText.publish('s', liveText(1, 1, 'late'));
  const one = watch(3);
  await append(turnStartedFact(2));
  store.partialText.publish('s', liveText(2, 4, 'next'));
  await one.sees('2:next');
  assert.deepEqual(one.shown, ['turn-started', '2:next']);
});

test('[A93] a flood of words is few frames, and nothing of it is lost', async (t) => {
  const { store, append, watch } = await createBroadcastSetup(t);
  const one = watch();
  await append(turnStartedFact(1));
  await one.sees('turn-started');
  for (let i = 0; i < 20_000; i++) store.partialText.publish('s', liveText(1, 1, 'word '));
  await append(turnFailedFact(1));
  await one.sees('turn-failed');
  assert.deepEqual(one.shown, ['turn-started', `1:${'word '.repeat(20_000)}`, 'turn-failed']);
});
