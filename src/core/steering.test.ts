// Input to an active run: delivered once, in order, at the next possible request, whenever it arrives.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  replyWithError,
  replyWithCalls,
  createEndChunk,
  createTextChunks,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type FixtureReply,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import {
  FairleadError,
  historyError,
  lastItem,
  openSessionWriter,
  runStateView,
  messageText,
  toArray,
  type Event,
  type Message,
  type ModelRequest,
} from './index.ts';

const look = createTestTool('look', 'read', () => 'seen');
const retry = new FairleadError('provider/overloaded', 'Too busy.', { blame: 'provider', retry: true });

/** The last message of the user in a request. */
const tail = (request: ModelRequest | undefined): string =>
  request ? messageText(lastItem(request.messages) as Message) : '';

/** Adds input at the first event of this type, in the same moment. */
const at = (
  fixture: CoreFixture,
  type: Event['type'],
  ...words: readonly (readonly ['steer' | 'follow-up', string])[]
): void => {
  const leave = fixture.head.subscribe((event) => {
    if (event.type !== type) return;
    leave();
    for (const [how, text] of words) void fixture.addInput(how, text);
  });
};

test('[A10] steering during a tool is sent with its results, before the next answer', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look'), replyWithText('done')], tools: [look] });
  at(fixture, 'tool-started', ['steer', 'rather this']);
  await fixture.run();
  assert.deepEqual(fixture.transcript(), [
    'user: go',
    'assistant: look()',
    'tool: seen',
    'user: rather this',
    'assistant: done',
  ]);
});

test('steering during a stream does not change that request, and is sent after its answer', async () => {
  const fixture = await createCoreFixture({
    replies: [
      async function* () {
        yield* createTextChunks('hel');
        await fixture.addInput('steer', 'in French');
        yield createEndChunk([{ type: 'text', text: 'hello' }]);
      },
      replyWithText('bonjour'),
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: hello', 'user: in French', 'assistant: bonjour']);
});

test('steering during a stream that ends in calls is sent after their results', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look'), replyWithText('done')], tools: [look] });
  at(fixture, 'turn-started', ['steer', 'quickly']);
  await fixture.run();
  assert.deepEqual(fixture.transcript().slice(1, 4), ['assistant: look()', 'tool: seen', 'user: quickly']);
});

for (const type of ['turn-ended', 'check-ended'] as const) {
  test(`steering at the event ${type}, after the final answer and before the end, is still answered`, async () => {
    const fixture = await createCoreFixture({
      replies: [replyWithText('one'), replyWithText('two')],
      checks: type === 'check-ended' ? [{ name: 'fine', run: () => ({ type: 'passed' }) }] : [],
    });
    at(fixture, type, ['steer', 'and now?']);
    assert.equal((await fixture.run()).ended?.reason, 'answered');
    assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: one', 'user: and now?', 'assistant: two']);
    assert.deepEqual(fixture.head.state.pending, []);
    assert.equal(fixture.eventsOfType('run-ended').length, 1);
  });
}

test('steering during a check is answered, and the new answer is checked too', async () => {
  let checked = 0;
  const fixture = await createCoreFixture({
    replies: [replyWithText('one'), replyWithText('two')],
    checks: [
      {
        name: 'slow',
        run: async () => {
          if (checked++ === 0) await fixture.addInput('steer', 'wait');
          return { type: 'passed' };
        },
      },
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual([fixture.transcript().at(-1), checked], ['assistant: two', 2]);
});

test('a follow-up waits for the answer; two are answered one after the other', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('one'), replyWithText('two'), replyWithText('three')],
    tools: [look],
  });
  at(fixture, 'tool-started', ['follow-up', 'first'], ['follow-up', 'second']);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(fixture.transcript().slice(3), [
    'assistant: one',
    'user: first',
    'assistant: two',
    'user: second',
    'assistant: three',
  ]);
});

test('steering is sent before an earlier follow-up, and without it', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithText('one'), replyWithText('two'), replyWithText('three')],
  });
  at(fixture, 'turn-started', ['follow-up', 'later'], ['steer', 'now']);
  await fixture.run();
  assert.deepEqual(
    fixture.transcript().filter((line) => line.startsWith('user')),
    ['user: go', 'user: now', 'user: later'],
  );
});

test('a follow-up also waits while an answer is requested again or a check has failed', async () => {
  let failed = false;
  const fixture = await createCoreFixture({
    replies: [
      replyWithText(''),
      replyWithError(retry),
      replyWithText('one'),
      replyWithText('better'),
      replyWithText('two'),
    ],
    checks: [
      {
        name: 'strict',
        run: () => (failed ? { type: 'passed' } : ((failed = true), { type: 'failed', why: 'say it better' })),
      },
    ],
  });
  at(fixture, 'turn-started', ['follow-up', 'later']);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(fixture.transcript().slice(-3), ['assistant: better', 'user: later', 'assistant: two']);
});

test('inputs that arrive together are sent together, in order', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look'), replyWithText('done')], tools: [look] });
  at(fixture, 'tool-started', ['steer', 'a'], ['steer', 'b'], ['steer', 'c']);
  await fixture.run();
  assert.equal(tail(fixture.requests[1]), 'a\nb\nc');
});

test('input that arrives after a run has ended waits for the next run, and so does input left unread by a limit', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('fine')],
    tools: [look],
    limits: { turns: 1 },
  });
  at(fixture, 'tool-started', ['steer', 'unread']);
  assert.equal((await fixture.run()).ended?.reason, 'max-turns');
  await fixture.addInput('steer', 'late');
  assert.equal(fixture.requests.length, 1);
  await fixture.startRun('next', { turns: 5 });
  await fixture.run();
  assert.equal(tail(fixture.requests[1]), 'unread\nlate\nnext');
});

test('input to a run whose calls wait for approval is kept until they are decided', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('done')],
    tools: [look],
    gates: [() => ({ type: 'ask', question: 'ok?' })],
  });
  await fixture.run();
  await fixture.addInput('steer', 'hurry');
  assert.equal((await fixture.run()).ended, undefined);
  await fixture.head.record([{ type: 'approval-resolved', call: 'c00001000', allowed: true }]);
  await fixture.run();
  assert.equal(tail(fixture.requests[1]), 'hurry');
});

test('[A24] input that was recorded before a crash is delivered by the next process', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look')], tools: [look] });
  at(fixture, 'tool-started', ['steer', 'kept'], ['follow-up', 'kept too']);
  await fixture.run();
  const cut = fixture.log.events.findLastIndex((event) => event.type === 'input-received');
  const head = await openSessionWriter(memoryLog(fixture.log.events.slice(0, cut + 1)), runStateView());
  assert.deepEqual(
    head.state.pending.map(({ how }) => how),
    ['steer', 'follow-up'],
  );
});

const line = fc.constantFrom<FixtureReply>(
  replyWithText('words'),
  replyWithText(''),
  replyWithCalls('look'),
  replyWithCalls('look', 'look'),
  replyWithError(retry),
  replyWithText('x', 'refusal'),
);
const input = fc.record({ after: fc.nat(25), how: fc.constantFrom('steer' as const, 'follow-up' as const) });

test('whenever input arrives, each is delivered once, in order, in a valid request that extends the previous one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.array(input, { maxLength: 6 }), async (lines, inputs) => {
      const fixture = await createCoreFixture({
        replies: lines,
        tools: [look],
        limits: { errors: 50, maxRetriesPerAnswer: 50, turns: 100 },
      });
      const said: { readonly how: string; readonly text: string }[] = [];
      const saying: Promise<unknown>[] = [];
      const leave = fixture.head.subscribe((event) => {
        for (const { after, how } of inputs)
          if (event.seq === 4 + after) {
            const text = `<${how} ${said.length}>`;
            said.push({ how, text });
            saying.push(fixture.addInput(how, text));
          }
      });
      assert.equal((await fixture.run()).ended?.reason, 'answered');
      leave();
      await Promise.all(saying);
      await fixture.startRun('last');
      await fixture.run();
      const users = fixture
        .transcript()
        .filter((each) => each.startsWith('user'))
        .join('\n');
      for (const { text } of said) assert.equal(users.split(text).length, 2, `${text} once`);
      for (const kind of ['steer', 'follow-up']) {
        const order = said.filter(({ how }) => how === kind).map(({ text }) => users.indexOf(text));
        assert.deepEqual(
          order,
          order.toSorted((a, b) => a - b),
        );
      }
      for (const [i, request] of fixture.requests.entries()) {
        assert.equal(historyError(toArray(request.messages)), undefined);
        assert.notEqual(lastItem(request.messages)?.role, 'assistant');
        const before = toArray(fixture.requests[i - 1]?.messages ?? { length: 0, items: [] });
        assert.deepEqual(toArray(request.messages).slice(0, before.length), before);
      }
    }),
    { numRuns: 150 },
  );
});
