// Tests of compaction in a run: when it happens, what it keeps, how it fails, and that a fold can start at its epoch.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithError,
  replyWithCalls,
  neverSettles,
  replyWithText,
  createCoreFixture,
  createTestTool,
  waitForEvent,
  type FixtureReply,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import {
  FairleadError,
  fold,
  historyError,
  openSessionWriter,
  runLoop,
  runStateView,
  messageText,
  toArray,
  type Compactor,
  type Message,
  type RunState,
} from './index.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const shorter: Compactor = { run: async () => ({ messages: [user('in short')] }) };
const long = 'word '.repeat(50);
const look = createTestTool('look', 'read', () => 'x'.repeat(400));
const looks: readonly FixtureReply[] = Array.from({ length: 12 }, (_, i) => replyWithCalls(['look', { i }]));
const tooLong = new FairleadError('provider/context-too-long', 'Too long.', { blame: 'user' });

/** Usage that grows with the history, as a provider would count it. */
const counted = (line: FixtureReply): FixtureReply =>
  async function* (request, signal) {
    const input = Math.ceil(JSON.stringify(toArray(request.messages)).length / 4);
    for await (const chunk of line(request, signal))
      yield chunk.type === 'end' ? { ...chunk, usage: { input, output: 1 } } : chunk;
  };

const plain = (state: RunState): unknown => JSON.parse(JSON.stringify({ ...state, messages: toArray(state.messages) }));

test('[M30] a run longer than its context window is compacted as often as needed, and ends with its answer', async () => {
  const { run, eventsOfType, requests } = await createCoreFixture({
    replies: looks.map(counted),
    tools: [look],
    compactor: shorter,
    limits: { context: 500 },
  });
  assert.equal((await run()).ended?.reason, 'answered');
  const compacted = eventsOfType('epoch-started').filter((event) => event.reason === 'compacted');
  assert.ok(compacted.length >= 2, `${compacted.length} compactions`);
  assert.ok(requests.every((request) => historyError(toArray(request.messages)) === undefined));
});

test('[A24] after a compaction during a run, a fold from the epoch equals the fold from the root, event by event', async () => {
  const { run, log, addInput, head } = await createCoreFixture({
    replies: looks.map(counted),
    tools: [look],
    compactor: shorter,
    limits: { context: 500, calls: 40, tokens: 1e6 },
    choice: 'required',
  });
  const first = waitForEvent(head, 'turn-ended', 2).then(() => addInput('follow-up', 'later'));
  await run();
  await first;
  const at = log.events.findIndex((event) => event.type === 'epoch-started' && event.baseline);
  assert.ok(at > 0);
  for (let n = at + 1; n <= log.events.length; n++) {
    const root = fold(runStateView(), log.events.slice(0, n));
    const short = fold(runStateView(), log.events.slice(at, n));
    assert.deepEqual(plain(short), plain(root), `after event ${n} (${log.events[n - 1]?.type})`);
  }
});

test('[A24] killed after any event of a compacted run and opened from its last epoch, the run continues to its answer', async () => {
  const setting = { tools: [look], compactor: shorter, limits: { context: 500 } };
  const { run, log } = await createCoreFixture({ ...setting, replies: looks.map(counted) });
  await run();
  const at = log.events.findIndex((event) => event.type === 'epoch-started' && event.baseline);
  for (let n = at + 1; n < log.events.length; n++) {
    const { agent } = await createCoreFixture({ ...setting, replies: [] });
    const head = await openSessionWriter(memoryLog(log.events.slice(0, n)), runStateView(), 'epoch');
    const state = await runLoop(agent, {
      writer: head,
      signal: new AbortController().signal,
      onChunk: () => {},
      clock: () => 0,
    });
    assert.equal(state.ended?.reason, 'answered', `killed after event ${n} (${log.events[n - 1]?.type})`);
  }
});

test('input and notes that arrive during a compaction are not lost', async () => {
  const gate = Promise.withResolvers<void>();
  const working = Promise.withResolvers<void>();
  const compact: Compactor = {
    async run() {
      working.resolve();
      await gate.promise;
      return { messages: [user('in short')] };
    },
  };
  const { run, addInput, requests } = await createCoreFixture({
    replies: [replyWithError(tooLong), replyWithText('done')],
    compactor: compact,
    rules: [(event) => (event.type === 'input-received' ? [{ key: `noted-${event.input}`, text: 'a note' }] : [])],
  });
  await addInput('steer', long);
  const going = run();
  await working.promise;
  await addInput('steer', 'wait');
  gate.resolve();
  assert.equal((await going).ended?.reason, 'answered');
  const last = toArray(requests.at(-1)?.messages ?? { length: 0, items: [] })
    .map(messageText)
    .join('\n');
  assert.match(last, /in short[^]*wait[^]*noted-i3/);
});

test('a request that is too long for the provider is compacted and retried once only', async () => {
  const lines = [1, 2, 3, 4].map(() => replyWithError(tooLong));
  const { run, addInput, requests, eventsOfType } = await createCoreFixture({ replies: lines, compactor: shorter });
  await addInput('steer', long);
  const state = await run();
  assert.deepEqual([state.ended?.reason, requests.length], ['provider-error', 2]);
  assert.equal(eventsOfType('epoch-started').length, 2);
});

const cannot: Readonly<Record<string, Compactor['run']>> = {
  'returns nothing': async () => ({}),
  throws: async () => {
    throw new Error('no summary');
  },
  'returns no messages': async () => ({ messages: [] }),
  'returns an invalid history': async () => ({
    messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'x' }] }],
  }),
  'returns a longer history': async () => ({ messages: [user(long)] }),
};
for (const [how, run] of Object.entries(cannot)) {
  test(`a compactor that ${how} ends the run with a reason, and no invalid request is sent`, async () => {
    const {
      run: go,
      requests,
      startRun,
    } = await createCoreFixture({ replies: [replyWithError(tooLong)], compactor: { run } });
    const { ended, run: going } = await go();
    assert.deepEqual([ended?.reason, going, requests.length], ['token-budget', undefined, 1]);
    assert.match(ended?.detail ?? '', how === 'throws' ? /no summary/ : /could not be made shorter/);
    await startRun('go on');
    assert.equal((await go()).ended?.reason, 'answered');
  });
}

test('a compactor that does not shorten the history is not called again', async () => {
  let asked = 0;
  const compact: Compactor = {
    run: async (state) => (asked++, { messages: [user('x'.repeat(state.context * 8))] }),
  };
  const { run, requests } = await createCoreFixture({ compactor: compact, limits: { context: 1 } });
  assert.deepEqual([(await run()).ended?.reason, requests.length, asked], ['token-budget', 0, 1]);
});

test('cancelled during a compaction whose compactor ignores its signal, a run ends at once', async () => {
  const stop = new AbortController();
  const compact: Compactor = {
    run() {
      stop.abort();
      return neverSettles();
    },
  };
  const { run, startRun } = await createCoreFixture({ compactor: compact, limits: { context: 1 } });
  assert.equal((await run(stop.signal)).ended?.reason, 'cancelled');
  await startRun('go on', { context: 1e9 });
  assert.equal((await run()).ended?.reason, 'answered');
});

test('[M30] a history is compacted from its threshold on, while there is space, and again only after it has grown', async () => {
  const asked: number[] = [];
  const compact: Compactor = {
    threshold: 0.5,
    async run(state) {
      asked.push(state.context);
      // Hardly shorter: a loop that compacts again at once would never end.
      return { messages: toArray(state.messages).slice(0, -2) };
    },
  };
  const { run, requests } = await createCoreFixture({
    replies: looks.map(counted),
    tools: [look],
    compactor: compact,
    limits: { context: 2000 },
  });
  assert.equal((await run()).ended?.reason, 'answered');
  assert.ok(asked.length >= 2, `${asked.length} compactions`);
  for (const [i, tokens] of asked.entries()) {
    assert.ok(tokens > 1000 && tokens < 2000, `${tokens} tokens`);
    assert.ok(i === 0 || tokens - (asked[i - 1] as number) > 50, asked.join(' '));
  }
  assert.equal(requests.length, 13);
});

test('[M30] a refused compaction with space left is recorded with its usage, and the run continues; without space it ends the run', async () => {
  let asked = 0;
  const compact: Compactor = {
    threshold: 0.5,
    run: async () => (asked++, { detail: 'Nobody knows how.', spent: { input: 7, output: 1, usd: 0.5 } }),
  };
  const setting = { tools: [look], compactor: compact, replies: looks.slice(0, 7).map(counted) };
  const { run, eventsOfType, log } = await createCoreFixture({ ...setting, limits: { context: 1600 } });
  const state = await run();
  assert.equal(state.ended?.reason, 'answered');
  const [first] = eventsOfType('compaction-failed');
  assert.equal(first?.why, 'Nobody knows how.');
  assert.ok(asked < 6 && asked === eventsOfType('compaction-failed').length, `${asked} attempts`);
  const turns = eventsOfType('turn-ended').reduce((sum, event) => sum + (event.usage.input ?? 0), 0);
  assert.equal(state.spent.input, turns + 7 * asked);
  assert.deepEqual(plain(fold(runStateView(), log.events)), plain(state));

  const full = await createCoreFixture({ ...setting, limits: { context: 600 } });
  const { ended, spent } = await full.run();
  assert.equal(ended?.reason, 'token-budget');
  assert.match(ended?.detail ?? '', /could not be made shorter: Nobody knows how\./);
  assert.ok(spent.usd >= 0.5);
});
