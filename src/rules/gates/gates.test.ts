// Gates: what they deny, what they allow, and what the model sees instead.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type FixtureReply,
  type CoreFixture,
} from '../../../test/support/core-fixture.ts';
import { evaluateGates, historyError, toArray, type Compactor, type Json } from '../../core/index.ts';
import { runGateExample } from '../testing/run-examples.ts';
import { summarizingCompactor } from '../compaction/summarize.ts';
import { toolStats } from '../session-stats/selectors.ts';
import { compileRuleSet } from '../declarative/rule-set.ts';
import { compactAt } from '../compaction/compact-at.ts';
import { confirm } from './confirm.ts';
import { defineGate, type GateRule } from './gate-rule.ts';
import { exclusive, phases, requireOrder } from './order.ts';
import { rateLimit } from './rate-limit.ts';
import { readBeforeEdit } from './read-before-edit.ts';

const gateRules: Readonly<Record<string, GateRule>> = {
  M27: readBeforeEdit(),
  M28: confirm({ which: ['delete_file'] }),
  'M29, M31': rateLimit({ tool: 'run_command', most: 3, per: 'turn', count: 'retries' }),
  M29: rateLimit({ tool: 'run_command', most: 2, per: 'run' }),
  'M29, M26': rateLimit({ tool: 'run_command', most: 3, per: { minutes: 5 } }),
  M31: requireOrder(['search', 'view', 'use']),
  'M31, M27': exclusive(['merge', 'rebase']),
};
for (const [rows, rule] of Object.entries(gateRules))
  for (const example of rule.examples)
    test(`[${rows}] ${rule.name} decides on ${example.title}: ${example.decides}`, async () => {
      assert.equal((await runGateExample(rule, example)).failure, undefined);
    });

async function runRules(
  rules: readonly GateRule[],
  ...lines: readonly FixtureReply[]
): Promise<{ readonly fixture: CoreFixture; readonly acts: readonly string[] }> {
  const acts: string[] = [];
  const act = (name: string, effect: 'read' | 'write') =>
    createTestTool(name, effect, (input) => (acts.push(`${name} ${JSON.stringify(input)}`), 'done'));
  const { gates, views } = compileRuleSet({ name: 'test', gates: rules });
  const tools = [act('read_file', 'read'), act('edit_file', 'write'), act('write_file', 'write'), act('plan', 'read')];
  const fixture = await createCoreFixture({
    replies: [...lines, replyWithText('done')],
    tools,
    gates,
    views,
    limits: { errors: 50 },
  });
  await fixture.run();
  return { fixture, acts };
}

const path = 'src/a.ts';

test('[M27, M31] an edit of an unread file is denied with a reason, the model gets a valid result, and after reading the edit is allowed', async () => {
  const edit = replyWithCalls(['edit_file', { path }]);
  const { fixture, acts } = await runRules(
    [readBeforeEdit()],
    edit,
    replyWithCalls(['read_file', { path: './src/a.ts' }]),
    edit,
  );
  assert.deepEqual(
    acts.map((each) => each.split(' ')[0]),
    ['read_file', 'edit_file'],
  );
  const [refused] = fixture.eventsOfType('tool-ended');
  assert.equal(refused?.outcome, 'denied');
  assert.match(
    refused?.text ?? '',
    /The rule read-before-edit does not allow this call, so nothing was run: src\/a\.ts was not read before\. Read it with read_file/,
  );
  for (const request of fixture.requests) assert.equal(historyError(toArray(request.messages)), undefined);
});

test('[M27] a file that the model created counts as read, and with a file check, overwriting an unread file is denied too', async () => {
  const made = await runRules(
    [readBeforeEdit()],
    replyWithCalls(['write_file', { path }]),
    replyWithCalls(['edit_file', { path }]),
  );
  assert.equal(made.acts.length, 2);
  const over = await runRules(
    [readBeforeEdit({ exists: (each) => each === path })],
    replyWithCalls(['write_file', { path }]),
    replyWithCalls(['write_file', { path: 'new.ts' }]),
  );
  assert.deepEqual(over.acts, ['write_file {"path":"new.ts"}']);
});

test('[M28] the user is asked before the call, and nothing runs until the answer', async () => {
  const { fixture, acts } = await runRules(
    [confirm({ which: ['write_file'] })],
    replyWithCalls(['write_file', { path }]),
  );
  assert.deepEqual(acts, []);
  const [question] = fixture.eventsOfType('approval-requested');
  assert.match(question?.question ?? '', /Run write_file with \{"path":"src\/a\.ts"\}\?/);
  await fixture.head.record([{ type: 'approval-resolved', call: question?.call ?? '', allowed: true }]);
  await fixture.run();
  assert.equal(acts.length, 1);
});

test('[M29] of many calls in one answer only the allowed number runs, and earlier calls count', async () => {
  const many = replyWithCalls(
    ...Array.from({ length: 6 }, (_, i): readonly [string, Json] => ['read_file', { path: `${i}` }]),
  );
  const { acts, fixture } = await runRules([rateLimit({ tool: 'read_file', most: 4, per: 'turn' })], many);
  assert.equal(acts.length, 4);
  assert.equal(fixture.eventsOfType('tool-ended').filter(({ outcome }) => outcome === 'denied').length, 2);
});

test('[M29] a read that was interrupted by a crash is not counted twice', async () => {
  const rule = rateLimit({ tool: 'read_file', most: 1, per: 'turn' });
  const { fixture, acts } = await runRules([rule], replyWithCalls(['read_file', { path }]));
  assert.equal(acts.length, 1);
  const { state } = fixture.head;
  const open = { id: 'c', tool: 'read_file', input: { path } };
  const ask = (key?: string): Promise<{ readonly type: string }> =>
    evaluateGates(fixture.agent, key === undefined ? open : { ...open, key }, state);
  assert.equal((await ask()).type, 'deny');
  assert.equal((await ask('k')).type, 'allow');
});

test('[M29] a limit per minute uses the time of the log: an hour later calls are allowed again', async () => {
  const rule = rateLimit({ tool: 'run', most: 1, per: { minutes: 5 } });
  const history = [{ said: 'go' }, { called: 'run' }] as const;
  const call = { tool: 'run' };
  assert.equal((await runGateExample(rule, { title: '', history, call, decides: 'deny' })).failure, undefined);
  const later = [...history, { pausedMinutes: 60 }] as const;
  assert.equal((await runGateExample(rule, { title: '', history: later, call, decides: 'allow' })).failure, undefined);
});

test('[M31] each phase allows its own tools, and an unknown phase allows none', async () => {
  const rule = phases({ look: ['read_file', 'plan'], act: ['edit_file'] }, (state) =>
    toolStats(state, 'plan').run.ok > 0 ? 'act' : 'look',
  );
  const { acts } = await runRules(
    [rule],
    replyWithCalls('edit_file'),
    replyWithCalls('write_file'),
    replyWithCalls('plan'),
    replyWithCalls('edit_file'),
    replyWithCalls('read_file'),
  );
  assert.deepEqual(
    acts.map((each) => each.split(' ')[0]),
    ['write_file', 'plan', 'edit_file'],
  );
  const lost = await runRules(
    [phases({ look: ['read_file'] }, () => 'nowhere', { others: 'deny' })],
    replyWithCalls('read_file'),
    replyWithCalls('plan'),
  );
  assert.deepEqual(lost.acts, []);
});

const allowGate = defineGate({ name: 'yes', description: 'Anything goes.', decide: () => undefined });
const askGate = defineGate({ name: 'ask', description: 'Ask.', decide: () => ({ ask: 'May it?' }) });
const denyGate = defineGate({ name: 'no', description: 'Never.', decide: () => ({ deny: 'Never.' }) });
const throwingGate = defineGate({
  name: 'broken',
  description: 'A fault.',
  decide: () => {
    throw new Error('a fault');
  },
});

test('[M31] of two rules that disagree the stricter wins, in either order, and one that throws denies', async () => {
  const pairs: readonly (readonly [GateRule, GateRule, string])[] = [
    [allowGate, denyGate, 'denied'],
    [askGate, denyGate, 'denied'],
    [allowGate, throwingGate, 'denied'],
    [askGate, throwingGate, 'denied'],
  ];
  for (const [one, other, outcome] of pairs)
    for (const rules of [
      [one, other],
      [other, one],
    ]) {
      const { fixture, acts } = await runRules(rules, replyWithCalls('write_file'));
      assert.deepEqual(acts, [], `${one.name} and ${other.name}`);
      assert.equal(fixture.eventsOfType('tool-ended')[0]?.outcome, outcome);
    }
  const asked = await runRules([allowGate, askGate], replyWithCalls('write_file'));
  assert.equal(asked.fixture.eventsOfType('approval-requested').length, 1);
  assert.equal(asked.acts.length, 0);
});

test('[M30] when the context exceeds 80 % of the window, compaction starts automatically', async () => {
  const seen: number[] = [];
  const inner: Compactor = {
    run: async ({ context, messages }) => {
      seen.push(context);
      return Promise.resolve({ messages: toArray(messages).slice(0, 1) });
    },
  };
  const full = (input: number): FixtureReply =>
    async function* () {
      yield {
        type: 'end',
        message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'w', tool: 'look', input: {} }] },
        finishReason: 'tool-calls',
        usage: { input, output: 1 },
        model: 'test',
      };
    };
  const look = createTestTool('look', 'read', () => 'x');
  const fixture = await createCoreFixture({
    replies: [full(700), full(850), replyWithText('done')],
    tools: [look],
    compactor: compactAt(0.8, inner),
    limits: { context: 1000 },
  });
  await fixture.run();
  assert.equal(seen.length, 1);
  assert.ok((seen[0] ?? 0) > 800);
  assert.equal(fixture.eventsOfType('epoch-started').at(-1)?.reason, 'compacted');
  assert.throws(() => compactAt(80, summarizingCompactor()), /more than 0 and at most 1, not 80/);
});
