// An effect that was interrupted by a crash: its tool may confirm the outcome, or the user is asked; it never runs twice without approval.
import assert from 'node:assert/strict';
import test from 'node:test';
import { replyWithCalls, createCoreFixture, createTestTool } from '../../test/support/core-fixture.ts';
import { memoryLog, type MemoryLog } from '../stores/index.ts';
import {
  openSessionWriter,
  toolOutput,
  runLoop,
  runStateView,
  type ResolvedAgent,
  type Fact,
  type SessionWriter,
  type RunState,
  type Tool,
} from './index.ts';

type Crashed = {
  readonly keys: string[];
  readonly log: MemoryLog;
  readonly head: SessionWriter;
  readonly go: () => Promise<RunState>;
};

/** A session whose process died right after the start of its one call, `pay`, was recorded. */
async function crashed(more: Partial<Tool>, parts: Omit<Partial<ResolvedAgent>, 'tools'> = {}): Promise<Crashed> {
  const keys: string[] = [];
  const pay = createTestTool('pay', 'external', (_input, { key }) => (keys.push(key), 'paid'), more);
  const fixture = await createCoreFixture({ replies: [replyWithCalls(['pay', { sum: 5 }])], tools: [pay], ...parts });
  await fixture.run();
  keys.length = 0;
  const cut = fixture.log.events.findIndex((event) => event.type === 'tool-started');
  const log = memoryLog(fixture.log.events.slice(0, cut + 1));
  const head = await openSessionWriter(log, runStateView());
  const go = (): Promise<RunState> =>
    runLoop(fixture.agent, {
      writer: head,
      signal: new AbortController().signal,
      onChunk: () => {},
      clock: () => performance.now(),
    });
  return { keys, log, head, go };
}

const endOf = (log: MemoryLog): (Fact & { type: 'tool-ended' }) | undefined =>
  log.events.find((event) => event.type === 'tool-ended');

const answered = (call: string, allowed: boolean, happened?: boolean): Fact => ({
  type: 'approval-resolved',
  call,
  allowed,
  ...(happened === undefined ? {} : { happened }),
});

test('[A53, A112] a tool that confirms its effect settles the call, and it does not run again', async () => {
  const seen: unknown[] = [];
  const { keys, log, go } = await crashed({
    checkOutcome: (input, { key }) => (seen.push([input, typeof key]), toolOutput({ text: 'receipt 7', data: 7 })),
  });
  assert.equal((await go()).ended?.reason, 'answered');
  assert.deepEqual(keys, []);
  assert.deepEqual(seen, [[{ sum: 5 }, 'string']]);
  const { outcome, text, data } = endOf(log) ?? {};
  assert.deepEqual([outcome, text, data], ['ok', 'receipt 7', 7]);
});

test('[A53] a tool that confirms that nothing happened runs again, with the same key', async () => {
  const { keys, log, go } = await crashed({ checkOutcome: () => false });
  assert.equal((await go()).ended?.reason, 'answered');
  const started = log.events.filter((event) => event.type === 'tool-started');
  assert.deepEqual(keys, [started[0]?.key]);
  assert.deepEqual([started.length, started[1]?.key], [2, started[0]?.key]);
  assert.equal(endOf(log)?.outcome, 'ok');
});

for (const [what, confirm] of [
  ['does not know the outcome', () => undefined],
  ['fails', () => Promise.reject(new Error('no line'))],
  ['has no confirm function', undefined],
] as const) {
  const more = confirm ? { checkOutcome: confirm } : {};

  test(`[A53, A112] a tool that ${what}: the user is asked, and the run waits`, async () => {
    const { keys, log, head, go } = await crashed(more, { onUnknownOutcome: 'ask' });
    const rested = await go();
    const ask = log.events.find((event) => event.type === 'approval-requested');
    assert.equal(ask?.kind, 'unknown-outcome');
    assert.match(ask?.question ?? '', /pay.*\{"sum":5\}.*may or may not have happened/);
    if (what === 'fails') assert.match(ask?.question ?? '', /no line/);
    assert.deepEqual([rested.run !== undefined, keys], [true, []]);
    assert.deepEqual([(await go()).run !== undefined, keys, endOf(log)], [true, [], undefined]);
    await head.record([answered(ask?.call ?? '', false)]);
    assert.equal((await go()).ended?.reason, 'answered');
    assert.deepEqual([keys, endOf(log)?.outcome], [[], 'unknown']);
  });

  test(`[A53] a tool that ${what}, without a user to ask: the model is told`, async () => {
    const { keys, log, go } = await crashed(more);
    assert.equal((await go()).ended?.reason, 'answered');
    assert.deepEqual([keys, endOf(log)?.outcome], [[], 'unknown']);
  });
}

test('[A112] a user who confirms the effect settles the call', async () => {
  const { keys, log, head, go } = await crashed({}, { onUnknownOutcome: 'ask' });
  const { calls: open } = await go();
  await head.record([answered(open[0]?.id ?? '', false, true)]);
  assert.equal((await go()).ended?.reason, 'answered');
  assert.deepEqual([keys, endOf(log)?.outcome], [[], 'ok']);
  assert.match(endOf(log)?.text ?? '', /confirmed/);
});

test('[A53, A112] an approval runs the call again once: after another crash the user is asked again', async () => {
  const { keys, log, head, go } = await crashed({}, { onUnknownOutcome: 'ask' });
  const { calls: open } = await go();
  const id = open[0]?.id ?? '';
  await head.record([answered(id, true)]);
  const key = head.state.calls[0]?.key ?? '';
  // Another crash, right after the second start of the call.
  await head.record([{ type: 'tool-started', call: id, tool: 'pay', key }]);
  const rested = await go();
  assert.deepEqual([rested.run !== undefined, keys], [true, []]);
  await head.record([answered(id, true)]);
  assert.equal((await go()).ended?.reason, 'answered');
  assert.deepEqual([keys, endOf(log)?.outcome], [[key], 'ok']);
});

test('[A53, A112] if a gate asks as well, each question is asked once, and the call runs once', async () => {
  const { keys, log, head, go } = await crashed(
    {},
    {
      onUnknownOutcome: 'ask',
      // As in the terminal, where an approval given in the process that died does not count.
      gates: [
        ({ key, granted }) =>
          key === undefined || granted?.length ? { type: 'allow' } : { type: 'ask', question: 'Pay 5?' },
      ],
    },
  );
  for (let rounds = 0; rounds < 5 && head.state.run !== undefined; rounds++) {
    const { calls: open } = await go();
    if (open[0]?.ask && open[0].ask.allowed === undefined) await head.record([answered(open[0].id, true)]);
  }
  assert.equal(head.state.ended?.reason, 'answered');
  const asked = log.events.flatMap((event) => (event.type === 'approval-requested' ? [event.kind ?? 'gate'] : []));
  assert.deepEqual([asked, keys.length, endOf(log)?.outcome], [['unknown-outcome', 'gate'], 1, 'ok']);
});

test('the tool is asked about the input as a gate rewrote it', async () => {
  const seen: unknown[] = [];
  const { go } = await crashed(
    { checkOutcome: (input) => (seen.push(input), toolOutput({ text: 'yes' })) },
    { gates: [() => ({ type: 'rewrite', input: { sum: 4 } })] },
  );
  await go();
  assert.deepEqual(seen, [{ sum: 4 }]);
});
