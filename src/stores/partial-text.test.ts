// Partial text over a bus that loses and duplicates messages: nothing is delivered twice or out of order.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { PartialText } from '../core/index.ts';
import type { CreateMessageBus, BusMessage } from './partial-text-protocol.ts';
import { createPartialTextChannel, type OpenPartialTextChannel } from './partial-text.ts';

/** A bus in memory that records its messages and can lose or duplicate them. */
type FakeBusNetwork = {
  readonly open: () => OpenPartialTextChannel;
  readonly messages: BusMessage[];
  /** How often a message is delivered. */
  deliveryCount: (message: BusMessage) => number;
  /** How many of the next sends fail. */
  failures: number;
};

function createFakeBusNetwork(t: { after(work: () => Promise<void>): void }, renewMs = 10_000): FakeBusNetwork {
  const houses = new Map<string, (text: string | undefined) => void>();
  const mine: FakeBusNetwork = {
    messages: [],
    deliveryCount: () => 1,
    failures: 0,
    open() {
      const makeBus: CreateMessageBus = (me, received) => ({
        setListening(is) {
          if (!is || houses.has(me)) return;
          houses.set(me, received);
          received(undefined);
        },
        async send(messages) {
          await pause(1);
          if (mine.failures-- > 0) throw new Error('The connection is lost.');
          mine.messages.push(...messages);
          for (const message of messages)
            for (let i = 0; i < mine.deliveryCount(message); i++)
              for (const [name, told] of houses) if ((message.to ?? name) === name) told(message.text);
        },
      });
      const live = createPartialTextChannel(makeBus, { flushMs: 5, renewMs });
      t.after(() => live.close());
      return live;
    },
  };
  return mine;
}

const partialText = (since: number, text: string): PartialText => ({ turn: since, since, text });

function subscribeTo(live: OpenPartialTextChannel): { text: string; readonly leave: () => void } {
  let last: PartialText | undefined;
  const mine = { text: '', leave: () => {} };
  mine.leave = live.subscribe('s', (piece) => {
    mine.text = (last?.since === piece.since && !piece.restarted ? mine.text : '') + piece.text;
    last = piece;
  });
  return mine;
}

async function waitUntil(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !holds(); await pause(2)) assert.ok(Date.now() < end, 'not in 20 seconds');
}

const textMessages = (messages: readonly BusMessage[]): readonly BusMessage[] =>
  messages.filter(({ text }) => text.startsWith('{"type":"text"'));

test('[A93] text without subscribers is sent to no process', async (t) => {
  const { open, messages } = createFakeBusNetwork(t);
  const [speaker, other] = [open(), open()];
  const elsewhere = other.subscribe('another', () => assert.fail('no text is published there'));
  for (let i = 0; i < 1000; i++) speaker.publish('s', partialText(1, 'word '));
  await waitUntil(() => messages.length > 0);
  await pause(50);
  speaker.discard('s');
  await pause(50);
  elsewhere();
  await waitUntil(() => messages.some(({ text }) => text.includes('"unsubscribe"')));
  assert.deepEqual(textMessages(messages), []);
});

test('[A93] a lost message is requested again, a duplicated one is delivered once', async (t) => {
  const network = createFakeBusNetwork(t);
  const [speaker, far] = [network.open(), network.open()];
  const subscriber = subscribeTo(far);
  let n = 0;
  network.deliveryCount = ({ text }) => (text.startsWith('{"type":"text"') ? ([0, 2, 1][n++ % 3] ?? 1) : 1);
  let all = '';
  for (let i = 0; i < 60; i++) {
    speaker.publish('s', partialText(1, `${i} `));
    all += `${i} `;
    assert.ok(all.startsWith(subscriber.text), subscriber.text);
    await pause(2);
  }
  network.deliveryCount = () => 1;
  speaker.publish('s', partialText(1, 'end'));
  await waitUntil(() => subscriber.text === `${all}end`);
  assert.ok(n > 3, `${n} messages`);
});

test('[A93] what could not be sent is sent again: subscriptions and text', async (t) => {
  const network = createFakeBusNetwork(t);
  const [speaker, far] = [network.open(), network.open()];
  network.failures = 2;
  const listener = subscribeTo(far);
  speaker.publish('s', partialText(1, 'one '));
  await waitUntil(() => listener.text === 'one ');
  network.failures = 2;
  speaker.publish('s', partialText(1, 'two'));
  await waitUntil(() => listener.text === 'one two');
});

test('[A93] a process that resumes late does not replace the text of the current one', async (t) => {
  const { open } = createFakeBusNetwork(t);
  const [old, now, far] = [open(), open(), open()];
  far.subscribe('s', () => assert.fail('a failing subscriber does not affect others'));
  const subscriber = subscribeTo(far);
  old.publish('s', partialText(1, 'old'));
  await waitUntil(() => subscriber.text === 'old');
  now.publish('s', partialText(5, 'new'));
  await waitUntil(() => subscriber.text === 'new');
  old.publish('s', partialText(1, ' words'));
  old.discard('s');
  now.publish('s', partialText(5, ' words'));
  await waitUntil(() => subscriber.text === 'new words');
});

test('[A93] a subscription that is not renewed expires', async (t) => {
  const network = createFakeBusNetwork(t, 20);
  const [speaker, far] = [network.open(), network.open()];
  const subscriber = subscribeTo(far);
  speaker.publish('s', partialText(1, 'a'));
  await waitUntil(() => subscriber.text === 'a');
  // From now on its messages are lost: other processes cannot see it.
  network.deliveryCount = ({ to }) => (to === undefined ? 0 : 1);
  let told = -1;
  await waitUntil(() => {
    const before = told;
    told = textMessages(network.messages).length;
    speaker.publish('s', partialText(1, '.'));
    return before === told && told > 0 && network.messages.filter(({ to }) => to === undefined).length > 20;
  });
  const count = textMessages(network.messages).length;
  for (let i = 0; i < 20; i++, await pause(2)) speaker.publish('s', partialText(1, '.'));
  assert.equal(textMessages(network.messages).length, count);
});

test('[A93] much text is sent in few messages, each short enough for any store', async (t) => {
  const { open, messages } = createFakeBusNetwork(t);
  const [speaker, far] = [open(), open()];
  const subscriber = subscribeTo(far);
  await waitUntil(() => messages.length > 0);
  let all = '';
  for (let i = 0; i < 20_000; i++) {
    speaker.publish('s', partialText(1, '\u0001\ud83d\ude00'));
    all += '\u0001\ud83d\ude00';
    if (i % 500 === 0) await pause(0);
  }
  await waitUntil(() => subscriber.text.length === all.length);
  assert.equal(subscriber.text, all);
  assert.ok(messages.length < 200, `${messages.length} messages`);
  assert.ok(messages.every(({ text }) => Buffer.byteLength(text) < 8000));
});

test('[A93] unknown messages are ignored', async (t) => {
  const received: ((text: string | undefined) => void)[] = [];
  const posted: BusMessage[] = [];
  const live = createPartialTextChannel(
    (_, told) => {
      received.push(told);
      return { setListening: () => {}, send: async (messages) => void posted.push(...messages) };
    },
    { flushMs: 1 },
  );
  t.after(() => live.close());
  const subscriber = subscribeTo(live);
  const piece = { session: 's', turn: 1, since: 1, take: 0, at: 0, text: 'right' };
  const bad = [{ ...piece, at: -1 }, { ...piece, text: 5 }, { ...piece, since: '1' }, { ...piece, at: 1e9 }, null];
  const nonsense = [
    '',
    '{',
    'null',
    '[]',
    '{"type":"text","chunks":{}}',
    '{"type":"subscribe","from":"x; DROP","sessions":["s"]}',
    '{"type":"subscribe","from":"ab","sessions":[1]}',
    '{"type":"later","from":"ab"}',
    ...bad.map((each) => JSON.stringify({ type: 'text', chunks: [each] })),
  ];
  for (const text of nonsense) received[0]?.(text);
  assert.equal(subscriber.text, '');
  received[0]?.(JSON.stringify({ type: 'text', chunks: [piece] }));
  assert.equal(subscriber.text, 'right');
  live.publish('s', partialText(9, 'mine'));
  await pause(20);
  assert.deepEqual(textMessages(posted), []);
});
