// Compaction without a model: the task stays, the latest work stays, nothing is cut between a call and its result.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { illegal, runView, textOf, trailOf, type Limits, type Message, type RunState } from '../core/index.ts';
import { trimming } from './index.ts';

const limits: Limits = { turns: 9, errors: 9, reasks: 9, repeats: 0, outputChars: 1000 };
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const round = (id: string, size: number): readonly Message[] => [
  { role: 'assistant', parts: [{ type: 'tool-call', id, tool: 'read', input: {} }] },
  { role: 'tool', parts: [{ type: 'tool-result', id, tool: 'read', text: 'x'.repeat(size), failed: false }] },
];
const stateOf = (messages: readonly Message[], context?: number): RunState => ({
  ...runView().initial,
  messages: trailOf(messages),
  limits: context === undefined ? limits : { ...limits, context },
});
const never = new AbortController().signal;

test('the task and the latest work stay word for word, and what was left out is told in one line', async () => {
  const messages = [user('Find the bug.'), ...Array.from({ length: 20 }, (_, i) => round(`c${i}`, 400)).flat()];
  const short = (await trimming()(stateOf(messages, 1000), never)) ?? [];
  assert.ok(short.length < messages.length);
  assert.match(
    textOf(short[0] as Message),
    /^Find the bug\.\n\[\d+ messages that followed were left out.*read \d+ times/,
  );
  assert.deepEqual(short.slice(-2), messages.slice(-2));
});

test('whatever the conversation, the shorter one is legal and never longer', async () => {
  const step = fc.oneof(
    fc.nat(600).map((size) => ['round', size] as const),
    fc.nat(600).map((size) => ['talk', size] as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.nat(1000), async (steps, context) => {
      const messages = [
        user('Task.'),
        ...steps.flatMap(([kind, size], i) =>
          kind === 'round' ? round(`c${i}`, size) : [says('y'.repeat(size + 1)), user('and?')],
        ),
      ];
      if (illegal(messages)) return;
      const short = await trimming()(stateOf(messages, context), never);
      if (!short) return;
      assert.equal(illegal(short), undefined);
      assert.ok(short.length <= messages.length);
    }),
    { numRuns: 300 },
  );
});

test('a conversation with nothing to leave out is not compacted', async () => {
  assert.equal(await trimming()(stateOf([user('Hi.')]), never), undefined);
});
