// A call with the same tool and input as one whose outcome is unknown: it asks, whatever the gates decide.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  createCoreFixture,
  createTestTool,
  replyWithCalls,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { epochStartedFact } from './epoch.ts';
import {
  evaluateGates,
  toolOutput,
  USE_TOOL,
  type GateResult,
  type Json,
  type ResolvedAgent,
  type Tool,
} from './index.ts';

const reason = 'An earlier call with the same input was interrupted; it may have happened.\nThis is asked each time.';

/** A session with one call of `pay` whose outcome is unknown. */
async function interrupted(
  more: Omit<Partial<ResolvedAgent>, 'tools'> = {},
  call: readonly [string, Json] = ['pay', { usd: 5, to: 'x' }],
  effect: Tool['effect'] = 'external',
): Promise<CoreFixture> {
  const pay = createTestTool('pay', effect, () => toolOutput({ text: 'lost', outcomeUnknown: true }));
  const fixture = await createCoreFixture({ replies: [replyWithCalls(call)], tools: [pay], ...more });
  await fixture.run();
  return fixture;
}

const decide = (
  { agent, head }: CoreFixture,
  input: Json = { to: 'x', usd: 5 },
  parts: Partial<ResolvedAgent> = {},
): Promise<GateResult> => evaluateGates({ ...agent, ...parts }, { id: 'again', tool: 'pay', input }, head.state);

const questionOf = (result: GateResult): string | undefined => (result.type === 'ask' ? result.question : undefined);

test('[A53] the same call asks although no gate does; another input and a tool that only reads do not', async () => {
  const fixture = await interrupted();
  assert.equal(questionOf(await decide(fixture)), `Run pay with {"to":"x","usd":5}?\n${reason}`);
  assert.equal((await decide(fixture, { usd: 6 })).type, 'allow');
  assert.equal((await decide(await interrupted({}, undefined, 'read'))).type, 'allow');
  assert.equal((await decide(await interrupted({}, undefined, 'write'))).type, 'ask');
});

test('[A53] a gate that asks gives its question with the reason, once, and its preview with a note', async () => {
  const preview = { title: 'Pay?', notes: [] };
  const parts: Partial<ResolvedAgent> = { gates: [() => ({ type: 'ask', question: 'Pay 5?', preview })] };
  const fixture = await interrupted();
  const asked = await decide(fixture, undefined, parts);
  assert.equal(questionOf(asked), `Pay 5?\n${reason}`);
  assert.match(asked.type === 'ask' ? (asked.preview?.notes[0] ?? '') : '', /^An earlier call/);
  const call = { id: 'again', tool: 'pay', input: { to: 'x', usd: 5 } };
  const agent = { ...fixture.agent, ...parts };
  const { state } = fixture.head;
  assert.equal((await evaluateGates(agent, { ...call, granted: [`Pay 5?\n${reason}`] }, state)).type, 'allow');
  // A gate that accepts the approval does not lead to a second question.
  const granted = [`Pay 5?\n${reason}`];
  assert.equal((await evaluateGates(fixture.agent, { ...call, granted }, state)).type, 'allow');
  // An approval of the call without the reason does not answer the question.
  assert.equal((await evaluateGates(agent, { ...call, granted: ['Pay 5?'] }, state)).type, 'ask');
  const deny: Partial<ResolvedAgent> = { gates: [() => ({ type: 'deny', reason: 'no' })] };
  assert.equal((await decide(fixture, undefined, deny)).type, 'deny');
});

test('[A53] the call is found through an alias, through use_tool, and after a gate rewrote its input', async () => {
  const input = { to: 'x', usd: 5 };
  const aliased = await interrupted({ resolveToolName: ({ tool }) => (tool === 'Pay' ? 'pay' : undefined) }, [
    'Pay',
    input,
  ]);
  assert.equal((await decide(aliased)).type, 'ask');
  const deferred = await interrupted({}, [USE_TOOL, { tool: 'pay', input }]);
  assert.equal((await decide(deferred)).type, 'ask');
  let key = 0;
  const rewritten = await interrupted({
    gates: [
      ({ input: given }) =>
        JSON.stringify(given).includes('key') ? { type: 'allow' } : { type: 'rewrite', input: { key: ++key } },
    ],
  });
  assert.equal((await decide(rewritten)).type, 'ask', 'the same input before the gate');
  assert.equal((await decide(rewritten, { key: 1 })).type, 'ask', 'the same input after the gate');
  assert.equal((await decide(rewritten, { key: 9 })).type, 'allow');
});

test('[A53] a compaction keeps the call, and an approved repetition with a known result settles it', async () => {
  const { head } = await interrupted();
  await head.record([epochStartedFact(head.state, 'compacted', [])]);
  assert.equal(head.state.unknownCalls?.length, 1);
  const fixture = await createCoreFixture({
    replies: [
      replyWithCalls(['pay', { usd: 5 }]),
      replyWithCalls(['pay', { usd: 5 }]),
      replyWithCalls(['pay', { usd: 5 }]),
    ],
    tools: [
      createTestTool('pay', 'external', (_input, { state }) =>
        state.unknownCalls ? 'paid' : toolOutput({ text: 'lost', outcomeUnknown: true }),
      ),
    ],
  });
  const waiting = await fixture.run();
  assert.deepEqual([waiting.run !== undefined, fixture.eventsOfType('tool-ended').length], [true, 1]);
  await fixture.head.record([{ type: 'approval-resolved', call: waiting.calls[0]?.id ?? '', allowed: true }]);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map(({ outcome }) => outcome),
    ['unknown', 'ok', 'ok'],
  );
  assert.equal(fixture.eventsOfType('approval-requested').length, 1);
});
