// Stop conditions: each decided from the state alone, with its reason in the log.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithCalls,
  createReplyProvider,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixtureOptions,
  type CoreFixture,
} from '../../../test/support/core-fixture.ts';
import type { ExecResult } from '../../core/index.ts';
import { toolFailures } from '../session-stats/selectors.ts';
import { compileRuleSet } from '../declarative/rule-set.ts';
import { answerMatches, commandPasses } from './checks.ts';
import { allOf, anyOf } from './combined.ts';
import {
  contextLimit,
  errorThreshold,
  expectedOutput,
  moneyBudget,
  stopWhen,
  stuckLoop,
  taskComplete,
  timeLimit,
  tokenBudget,
  turnLimit,
  type StopRule,
} from './stop-conditions.ts';

const lookTool = createTestTool('look', 'read', (input) => `saw ${JSON.stringify(input)}`);
const failTool = createTestTool('fail', 'read', () => {
  throw new Error('no');
});
const lookCalls = (n: number): readonly ReturnType<typeof replyWithCalls>[] =>
  Array.from({ length: n }, (_, i) => replyWithCalls(['look', { i }]));

async function runToEnd(
  rules: readonly StopRule[],
  more: CoreFixtureOptions = {},
): Promise<{ readonly fixture: CoreFixture; readonly reason?: string; readonly detail?: string }> {
  const { stops, views } = compileRuleSet({ name: 'test', stops: rules });
  const fixture = await createCoreFixture({
    replies: lookCalls(8),
    tools: [lookTool, failTool],
    limits: { errors: 50 },
    ...more,
    stops,
    views,
  });
  await fixture.run();
  const end = fixture.eventsOfType('run-ended').at(-1);
  return { fixture, ...(end ? { reason: end.reason, detail: end.detail ?? '' } : {}) };
}

test('[M21] a turn limit ends the run before the next turn, after the calls of the last one', async () => {
  const { fixture, reason, detail } = await runToEnd([turnLimit(3)]);
  assert.deepEqual([reason, detail], ['max-turns', '3 of 3 turns are used.']);
  assert.equal(fixture.requests.length, 3);
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map(({ outcome }) => outcome),
    ['ok', 'ok', 'ok'],
  );
});

test('[M21] a run with its answer in the last allowed turn ends as answered', async () => {
  assert.equal(
    (await runToEnd([turnLimit(2)], { replies: [replyWithCalls('look'), replyWithText('done')] })).reason,
    'answered',
  );
});

test('[M22] a token budget, and a context over a threshold or a share of the window, end the run', async () => {
  const budget = await runToEnd([tokenBudget(40)]);
  assert.deepEqual([budget.reason, budget.detail], ['token-budget', '45 of 40 tokens are used.']);
  const long = await runToEnd([contextLimit(14)]);
  assert.equal(long.reason, 'token-budget');
  assert.match(long.detail ?? '', /The context contains \d+ tokens, more than 14\./);
  const share = await runToEnd([contextLimit({ share: 0.1 })], {
    replies: lookCalls(8),
    limits: { context: 140, errors: 50 },
  });
  assert.equal(share.reason, 'token-budget');
  assert.equal(
    (await runToEnd([contextLimit({ share: 0.1 })])).reason,
    'answered',
    'an unknown context window is no limit',
  );
});

test('[M22, M26] a spent or unknown cost ends the run', async () => {
  const costly = await runToEnd([moneyBudget(0.00003)]);
  assert.equal(costly.reason, 'money-budget');
  const { price: _price, ...free } = createReplyProvider(lookCalls(3));
  const unknown = await runToEnd([moneyBudget(1)], { provider: free });
  assert.match(unknown.detail ?? '', /The price of 1 turns is unknown/);
});

test('[M22] a time limit ends the run', async () => {
  assert.equal((await runToEnd([timeLimit(0)])).reason, 'time');
  assert.equal((await runToEnd([timeLimit(60_000)])).reason, 'answered');
});

test('[M23] a task is complete by a predicate, or by the expected output', async () => {
  const two = await runToEnd([taskComplete((state) => state.spent.calls >= 2, 'Two looks.')]);
  assert.deepEqual([two.reason, two.detail], ['task-complete', 'Two looks.']);
  const lines = [replyWithText('Not yet.'), replyWithText('DONE: 42')];
  const said = await runToEnd([expectedOutput(/DONE: \d+/g)], { replies: lines, checks: [answerMatches('DONE')] });
  assert.equal(said.reason, 'task-complete');
  assert.equal(said.fixture.requests.length, 2);
  assert.equal((await runToEnd([expectedOutput('DONE')], { replies: [replyWithText('never')] })).reason, 'answered');
});

test('[M23] a run is done once a command succeeds, and until then the model gets its output', async () => {
  const ran: ExecResult[] = [
    { code: 1, signal: null, text: '1 test failed' },
    { code: 0, signal: null, text: 'ok' },
  ];
  const asked: unknown[] = [];
  const workspace = {
    exec: (command: string | readonly string[]): Promise<ExecResult> => (
      asked.push(command),
      Promise.resolve(ran[asked.length - 1] as ExecResult)
    ),
  };
  const { fixture, reason } = await runToEnd([], {
    replies: [replyWithText('done'), replyWithText('now')],
    checks: [commandPasses({ workspace, command: 'npm test' })],
  });
  assert.equal(reason, 'answered');
  assert.deepEqual(asked, ['npm test', 'npm test']);
  assert.match(fixture.transcript().join('\n'), /npm test ended with 1, so the task is not complete:\n1 test failed/);
});

test('[M24] a number of failures in a row ends the run, of one tool or of any; a success resets the count', async () => {
  const lines = [
    replyWithCalls('fail'),
    replyWithCalls('look'),
    replyWithCalls('fail'),
    replyWithCalls('fail'),
    replyWithCalls('fail'),
  ];
  const { fixture, reason, detail } = await runToEnd([errorThreshold(3, 'fail')], { replies: lines });
  assert.deepEqual([reason, detail], ['error-threshold', 'fail failed 3 times in a row.']);
  assert.equal(fixture.requests.length, 4, 'a success of another tool does not reset the count');
  assert.equal((await runToEnd([errorThreshold(3)], { replies: lines })).fixture.requests.length, 5);
});

test('[M15, M24] a run that repeats a cycle of calls is stuck', async () => {
  const circle = [
    replyWithCalls('look'),
    replyWithCalls('fail'),
    replyWithCalls('look'),
    replyWithCalls('fail'),
    replyWithCalls('look'),
    replyWithCalls('fail'),
  ];
  const { reason, detail } = await runToEnd([stuckLoop(2)], { replies: circle });
  assert.deepEqual([reason, detail], ['stuck', 'look, fail returned the same results 2 times.']);
});

test('[M25, M37] a user’s stop condition on the state ends the run with its own reason, and one that throws ends it too', async () => {
  const mine = stopWhen(
    'too-many-looks',
    (state) => state.spent.calls >= 2 && toolFailures(state).total === 0 && 'Two looks are enough.',
  );
  const { reason, detail } = await runToEnd([mine]);
  assert.deepEqual([reason, detail], ['rule', 'too-many-looks: Two looks are enough.']);
  const broken = stopWhen('broken', () => {
    throw new Error('a fault');
  });
  assert.deepEqual(
    [(await runToEnd([broken])).reason, (await runToEnd([broken])).fixture.requests.length],
    ['rule', 0],
  );
});

test('[M25] any and all combine stop conditions: the reason is that of the first, the details are of all', async () => {
  const any = await runToEnd([
    anyOf(
      turnLimit(6),
      errorThreshold(9),
      stopWhen('calls', (state) => state.spent.calls >= 2),
    ),
  ]);
  assert.equal(any.reason, 'rule');
  const all = await runToEnd([
    allOf(
      turnLimit(2),
      stopWhen('calls', (state) => state.spent.calls >= 4 && 'Four.'),
    ),
  ]);
  assert.deepEqual([all.reason, all.detail], ['max-turns', '4 of 2 turns are used. calls: Four.']);
  assert.equal((await runToEnd([allOf()])).reason, 'answered');
});

test('[M26] the same log stops again at the same event: a resumed run needs no flags', async () => {
  const { fixture } = await runToEnd([stopWhen('two', (state) => state.spent.calls >= 2)]);
  const end = fixture.eventsOfType('run-ended').at(-1);
  await fixture.run();
  assert.equal(fixture.eventsOfType('run-ended').at(-1), end);
});

test('a limit that is not a number is refused', () => {
  for (const make of [turnLimit, tokenBudget, moneyBudget, timeLimit, contextLimit, errorThreshold, stuckLoop])
    assert.throws(() => make(Number.NaN), { code: 'rules/bad-limit' });
});
