// Gates: unclear results deny, and an approval counts only for the question that was asked.
import assert from 'node:assert/strict';
import test from 'node:test';
import { toolOutput } from './tool-result.ts';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { memoryLog } from '../stores/index.ts';
import {
  evaluateGates,
  openSessionWriter,
  runLoop,
  runStateView,
  type ToolCall,
  type Gate,
  type Json,
  type GateResult,
} from './index.ts';

const call: ToolCall = { id: 'c', tool: 'save', input: { n: 1 } };

async function evaluate(gates: readonly Gate[], about: ToolCall = call): Promise<GateResult> {
  const { agent, head } = await createCoreFixture({ gates });
  return evaluateGates(agent, about, head.state);
}

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

const unclear: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'an empty object': () => ({}),
  'a string': () => 'allow',
  true: () => true,
  'an unknown type': () => ({ type: 'maybe' }),
  'a type in capitals': () => ({ type: 'Allow' }),
  'a question that is not a string': () => ({ type: 'ask' }),
  'an error': () => {
    throw new Error('a fault');
  },
  'an error without a message': () => {
    throw Object.create(null);
  },
  'a rejected promise': () => Promise.reject(new Error('a fault')),
  'a rewrite to nothing': () => ({ type: 'rewrite' }),
  'a rewrite to a value that is not JSON': () => ({ type: 'rewrite', input: { n: 1n } }),
  'an endless rewrite': () => ({ type: 'rewrite', input: cyclic }),
};
for (const [what, gate] of Object.entries(unclear)) {
  test(`[M31] a gate that returns ${what} denies`, async () => {
    const ruling = await evaluate([gate as Gate]);
    assert.equal(ruling.type, 'deny');
    assert.ok(ruling.type === 'deny' && ruling.reason.length > 10);
  });
}

test('without gates a call is allowed unchanged, and a gate that rewrites it to the same input allows it', async () => {
  assert.deepEqual(await evaluate([]), { type: 'allow', input: { n: 1 } });
  assert.deepEqual(await evaluate([() => ({ type: 'rewrite', input: { n: 1 } })]), { type: 'allow', input: { n: 1 } });
});

test('a denial takes precedence over a question, whichever gate comes first', async () => {
  const ask: Gate = () => ({ type: 'ask', question: 'may I?' });
  const deny: Gate = () => ({ type: 'deny', reason: 'never' });
  for (const gates of [
    [ask, deny],
    [deny, ask],
  ])
    assert.deepEqual(await evaluate(gates), { type: 'deny', reason: 'never' });
});

const askingGate: Gate = (each) => ({ type: 'ask', question: `run with ${JSON.stringify(each.input)}?` });

test('an approval of one question does not count for another, also if a gate rewrites the approved call', async () => {
  const allowed: ToolCall = { ...call, granted: ['run with {"n":1}?'] };
  assert.equal((await evaluate([askingGate], allowed)).type, 'allow');
  const rewriting: Gate = (each) =>
    (each.input as { n: number }).n === 1 ? { type: 'rewrite', input: { n: 2 } } : { type: 'allow' };
  assert.deepEqual(await evaluate([rewriting, askingGate], allowed), { type: 'ask', question: 'run with {"n":2}?' });
  assert.equal((await evaluate([], { ...allowed, ask: { question: 'x', allowed: false } })).type, 'deny');
});

/** Answers every open question until the run has ended, in a new process each time. */
async function answered(fixture: CoreFixture, yes: (question: string) => boolean): Promise<readonly string[]> {
  const questions: string[] = [];
  let { log, head } = fixture;
  for (let i = 0; i < 10; i++) {
    const state = await runLoop(fixture.agent, {
      writer: head,
      signal: new AbortController().signal,
      onChunk: () => {},
      clock: () => 0,
    });
    const open = state.calls.find((each) => each.ask && each.ask.allowed === undefined);
    if (!open?.ask) return questions;
    questions.push(open.ask.question);
    await head.record([{ type: 'approval-resolved', call: open.id, allowed: yes(open.ask.question) }]);
    log = memoryLog(log.events);
    head = await openSessionWriter(log, runStateView());
  }
  return questions;
}

const twoAsk: readonly Gate[] = [
  () => ({ type: 'ask', question: 'touch the disk?' }),
  () => ({ type: 'ask', question: 'spend the money?' }),
];

test('[M28] two gates that ask are each answered once, and then the call runs, also if the process dies in between', async () => {
  const ran: Json[] = [];
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save'), replyWithText('done')],
    tools: [createTestTool('save', 'write', (input) => ran.push(input))],
    gates: twoAsk,
  });
  assert.deepEqual(await answered(fixture, () => true), ['touch the disk?', 'spend the money?']);
  assert.equal(ran.length, 1);
});

test('[M28] a rejection of the second question denies the call', async () => {
  const ran: Json[] = [];
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('save'), replyWithText('done')],
    tools: [createTestTool('save', 'write', (input) => ran.push(input))],
    gates: twoAsk,
  });
  assert.deepEqual(await answered(fixture, (question) => question.includes('disk')), [
    'touch the disk?',
    'spend the money?',
  ]);
  assert.equal(ran.length, 0);
});

test('a gate sees the loaded tool that is called through use_tool, not use_tool', async () => {
  const seen: string[] = [];
  const { run } = await createCoreFixture({
    replies: [replyWithCalls('load'), replyWithCalls(['use_tool', { tool: 'secret', input: { n: 7 } }])],
    tools: [
      createTestTool('load', 'read', () => toolOutput({ text: 'loaded', loadsTools: ['secret'] })),
      createTestTool('secret', 'read', () => 'told', { deferred: true }),
      createTestTool('use_tool', 'external', () => 'never'),
    ],
    gates: [(each) => (seen.push(`${each.tool} ${JSON.stringify(each.input)}`), { type: 'allow' })],
  });
  await run();
  assert.deepEqual(seen, ['load {}', 'secret {"n":7}']);
});
