// Cancellation: at any point a run ends soon, starts nothing more, and leaves a valid log that can be continued.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test from 'node:test';
import {
  replyWithCalls,
  neverSettles,
  replyNever,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixtureOptions,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import { FairleadError, historyError, openSessionWriter, runLoop, runStateView, toArray } from './index.ts';

/** Operations that hang end long before this timeout, or the test fails. */
const slowTest = { timeout: 20_000 };

const silentContext = { onChunk: (): void => {}, clock: (): number => performance.now() };

/** Runs, aborts as configured, and checks that the session is valid and can continue. */
async function cancelled(
  given: (abort: () => void) => CoreFixtureOptions,
): Promise<CoreFixture & { readonly reason: string | undefined }> {
  const stop = new AbortController();
  const fixture = await createCoreFixture(given(() => stop.abort()));
  const state = await fixture.run(stop.signal);
  assert.equal(state.run, undefined);
  assert.deepEqual(state.calls, []);
  assert.equal(historyError(toArray(state.messages)), undefined);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0, 'a listener is still on the signal');
  const reason = state.ended?.reason;
  await fixture.startRun('go on');
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.ok(fixture.requests.every((request) => historyError(toArray(request.messages)) === undefined));
  return { ...fixture, reason };
}

/** Aborts shortly after the call, and never settles. */
const hangAt = (abort: () => void) => (): Promise<never> => (setImmediate(abort), neverSettles());

test('[A24] a provider that never answers and ignores its signal', slowTest, async () => {
  const { reason, eventsOfType } = await cancelled((abort) => ({
    replies: [
      async function* () {
        yield* [];
        await hangAt(abort)();
      },
    ],
  }));
  assert.equal(reason, 'cancelled');
  assert.deepEqual(
    eventsOfType('turn-failed').map((event) => [event.error.code, event.partial]),
    [['run/cancelled', undefined]],
  );
});

test(
  '[A24] a provider that stops sending in the middle of a word: the shown text stays in the history',
  slowTest,
  async () => {
    const stop = new AbortController();
    const fixture = await createCoreFixture({ replies: [replyNever('Once upon', ' a ti')] });
    const shown: string[] = [];
    const state = await fixture.run(stop.signal, (chunk) => {
      if (chunk.type === 'part-delta') shown.push(chunk.text);
      if (shown.length === 2) stop.abort();
    });
    assert.equal(state.ended?.reason, 'cancelled');
    assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: Once upon a ti [cut off]']);
    await fixture.startRun('go on');
    assert.equal((await fixture.run()).ended?.reason, 'answered');
  },
);

test('chunks that arrive after the abort are not shown', slowTest, async () => {
  const stop = new AbortController();
  const late = Promise.withResolvers<void>();
  const fixture = await createCoreFixture({
    replies: [
      async function* () {
        yield { type: 'part-started', index: 0, part: 'text' };
        yield { type: 'part-delta', index: 0, text: 'a' };
        await late.promise;
        yield { type: 'part-delta', index: 0, text: 'b' };
      },
    ],
  });
  const shown: string[] = [];
  await fixture.run(stop.signal, (chunk) => {
    if (chunk.type !== 'part-delta') return;
    shown.push(chunk.text);
    stop.abort();
  });
  late.resolve();
  await new Promise((wake) => setImmediate(wake));
  assert.deepEqual(shown, ['a']);
});

test(
  '[A24] [fault 36] three reads that hang and ignore their signal each get one result, in call order',
  slowTest,
  async () => {
    const { reason, eventsOfType } = await cancelled((abort) => ({
      replies: [replyWithCalls('wait', 'wait', 'wait')],
      tools: [createTestTool('wait', 'read', hangAt(abort))],
    }));
    assert.equal(reason, 'cancelled');
    assert.deepEqual(
      eventsOfType('tool-ended').map((event) => [event.call, event.outcome]),
      [0, 1, 2].map((i) => [`c0000100${i}`, 'interrupted']),
    );
  },
);

test(
  '[A24] the outcome of a write that hangs is recorded as unknown; the calls after it are not started',
  slowTest,
  async () => {
    let begun = 0;
    const { reason, eventsOfType } = await cancelled((abort) => ({
      replies: [replyWithCalls('save', 'save')],
      tools: [createTestTool('save', 'write', () => (begun++, hangAt(abort)()))],
    }));
    assert.deepEqual([reason, begun], ['cancelled', 1]);
    assert.deepEqual(
      eventsOfType('tool-ended').map((event) => event.outcome),
      ['unknown', 'interrupted'],
    );
  },
);

test('[A24] a tool that handles its signal reports what it did before it stopped', slowTest, async () => {
  const { eventsOfType } = await cancelled((abort) => ({
    replies: [replyWithCalls('save')],
    tools: [
      createTestTool('save', 'write', async (_input, { signal }) => {
        setImmediate(abort);
        await new Promise((wake) => signal.addEventListener('abort', wake));
        return 'saved one of two files';
      }),
    ],
  }));
  assert.deepEqual(
    eventsOfType('tool-ended').map((event) => [event.outcome, event.text]),
    [['ok', 'saved one of two files']],
  );
});

test('a tool that fails long after its abort changes nothing', slowTest, async () => {
  const fail = Promise.withResolvers<never>();
  const { log } = await cancelled((abort) => ({
    replies: [replyWithCalls('late')],
    tools: [createTestTool('late', 'read', () => (setImmediate(abort), fail.promise))],
  }));
  const events = log.events.length;
  fail.reject(new Error('too late'));
  await new Promise((wake) => setImmediate(wake));
  assert.equal(log.events.length, events);
});

test('[A24] a gate that never answers: the call does not run, also not later', slowTest, async () => {
  let ran = 0;
  let asked = 0;
  const stop = new AbortController();
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save')],
    tools: [createTestTool('save', 'write', () => ran++)],
    gates: [() => (asked++, stop.abort(), neverSettles())],
  });
  assert.equal((await fixture.run(stop.signal)).ended?.reason, 'cancelled');
  assert.deepEqual([ran, asked, fixture.eventsOfType('tool-started').length], [0, 1, 0]);
});

test('[A24] a check that never answers', slowTest, async () => {
  const stop = new AbortController();
  const fixture = await createCoreFixture({ checks: [{ name: 'slow', run: () => (stop.abort(), neverSettles()) }] });
  assert.equal((await fixture.run(stop.signal)).ended?.reason, 'cancelled');
  assert.equal(fixture.eventsOfType('check-ended').length, 0);
});

test('cancelled while a gate decides: a call that it then allows does not run', slowTest, async () => {
  let ran = 0;
  const stop = new AbortController();
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save')],
    tools: [createTestTool('save', 'write', () => ran++)],
    gates: [() => (stop.abort(), { type: 'allow' })],
  });
  assert.equal((await fixture.run(stop.signal)).ended?.reason, 'cancelled');
  assert.equal(ran, 0);
});

test('cancelled after the start of a call is recorded: it does not run, and the log says so', slowTest, async () => {
  let ran = 0;
  const stop = new AbortController();
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save')],
    tools: [createTestTool('save', 'write', () => ran++)],
  });
  fixture.head.subscribe((event) => event.type === 'tool-started' && stop.abort());
  assert.equal((await fixture.run(stop.signal)).ended?.reason, 'cancelled');
  assert.equal(ran, 0);
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map((event) => event.outcome),
    ['interrupted'],
  );
});

test('cancelled after a turn is recorded: no request is sent', slowTest, async () => {
  const stop = new AbortController();
  const fixture = await createCoreFixture({});
  fixture.head.subscribe((event) => event.type === 'turn-started' && stop.abort());
  assert.equal((await fixture.run(stop.signal)).ended?.reason, 'cancelled');
  assert.equal(fixture.requests.length, 0);
});

test('a run that is cancelled before it begins ends without a turn', slowTest, async () => {
  const { reason, eventsOfType } = await cancelled((abort) => (abort(), {}));
  assert.deepEqual([reason, eventsOfType('turn-started').length], ['cancelled', 1], 'one turn, of the run after it');
});

const codes = { 'run/time': 'time', 'run/kill-switch': 'kill-switch', 'session/closed': 'cancelled' } as const;
for (const [code, expected] of Object.entries(codes)) {
  test(`an abort for ${code} ends the run as ${expected}, also if the process died before the end was recorded`, async () => {
    const stop = new AbortController();
    const why = new FairleadError(code, 'Enough of it.', { blame: 'user', retry: true });
    const fixture = await createCoreFixture({ replies: [replyNever('some')] });
    const state = await fixture.run(stop.signal, (chunk) => chunk.type === 'part-delta' && stop.abort(why));
    assert.deepEqual([state.ended?.reason, state.ended?.detail], [expected, 'Enough of it.']);
    assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: some [cut off]']);
    const failed = fixture.log.events.findIndex((event) => event.type === 'turn-failed');
    const head = await openSessionWriter(memoryLog(fixture.log.events.slice(0, failed + 1)), runStateView());
    const resumed = await runLoop(fixture.agent, {
      writer: head,
      signal: new AbortController().signal,
      ...silentContext,
    });
    assert.equal(resumed.ended?.reason, expected);
  });
}

test('a run whose time limit is reached starts no call when it is resumed', async () => {
  let ran = 0;
  const tool = createTestTool('save', 'write', () => ran++);
  const fixture = await createCoreFixture({ replies: [replyWithCalls('save')], tools: [tool], limits: { ms: 1000 } });
  const stop = new AbortController();
  fixture.head.subscribe((event) => event.type === 'turn-ended' && stop.abort());
  await fixture.run(stop.signal);
  const cut = fixture.log.events.findIndex((event) => event.type === 'turn-ended');
  const late = fixture.log.events
    .slice(0, cut + 1)
    .map((event) => (event.type === 'turn-ended' ? { ...event, ms: 1000 } : event));
  const head = await openSessionWriter(memoryLog(late), runStateView());
  const state = await runLoop(fixture.agent, { writer: head, signal: new AbortController().signal, ...silentContext });
  assert.deepEqual([state.ended?.reason, ran], ['time', 0]);
});

test('a time limit ends a run at a gate that hangs', slowTest, async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save'), replyWithText('done')],
    tools: [createTestTool('save', 'write', () => 'saved')],
    gates: [neverSettles],
    limits: { ms: 50 },
  });
  assert.equal((await fixture.run()).ended?.reason, 'time');
});
