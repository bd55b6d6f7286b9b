// Rules measured on recorded sessions: what other rules would have done, which reminders were followed, and why a model saw a note.
import assert from 'node:assert/strict';
import test from 'node:test';
import { upcastEvent, type Event, type ToolOutcome } from '../core/index.ts';
import {
  defineGate,
  buildFixtureLog,
  compileRuleSet,
  stopWhen,
  type ExampleStep,
  type RuleSet,
} from '../rules/index.ts';
import { explainTurn } from './explain-turn.ts';
import { formatTurnExplanation } from './format-explanation.ts';
import { backtest, compileBacktestRules } from './backtest.ts';
import { measureRuleEffectiveness } from './rule-effectiveness.ts';

const call = (called: string, outcome: ToolOutcome = 'ok', result = 'Done.', input = {}): ExampleStep => ({
  called,
  outcome,
  result,
  input,
});

const recorded = (set: RuleSet, steps: readonly ExampleStep[]): readonly Event[] =>
  buildFixtureLog(steps, compileRuleSet(set)).events;

const failing: RuleSet = {
  name: 'test',
  reminders: [
    {
      name: 'failing',
      tool: 'run',
      cooldown: 2,
      when: ({ call: ended }) => ended?.outcome === 'failed',
      message: 'Think.',
    },
  ],
};

const row = async (set: RuleSet, steps: readonly ExampleStep[], rule: string) =>
  (await measureRuleEffectiveness([set], [recorded(set, steps).map((event) => upcastEvent(event) as Event)])).get(rule);

test('[M39] a reminder counts as followed if its condition no longer holds some turns later, and otherwise as ignored', async () => {
  const begin = [{ said: 'go' }, call('run', 'failed')];
  const other = call('look');
  assert.deepEqual(await row(failing, [...begin, call('run'), other, other, other], 'failing'), {
    fired: 1,
    obeyed: 1,
    ignored: 0,
  });
  assert.deepEqual(await row(failing, [...begin, other, other, other, other], 'failing'), {
    fired: 1,
    obeyed: 1,
    ignored: 0,
  });
  const stubborn = await row(failing, [...begin, call('run', 'failed'), other, other, other], 'failing');
  assert.deepEqual(stubborn, { fired: 1, obeyed: 0, ignored: 1 });
  const soon = await row(failing, [...begin, { answered: 'I stop.' }], 'failing');
  assert.deepEqual(soon, { fired: 1, obeyed: 0, ignored: 0 }, 'it is not decided yet');
});

test('[M31] a denial counts as ignored if the same call is denied again in the same run', async () => {
  const no = 'The rule never does not allow this call, so nothing was run: no.';
  const none: RuleSet = { name: 'none' };
  const same = call('rm', 'denied', no, { path: 'a' });
  const steps = [{ said: 'go' }, same, call('look'), same, call('rm', 'denied', no, { path: 'b' })];
  assert.deepEqual(await row(none, steps, 'never'), { fired: 3, obeyed: 2, ignored: 1 });
  const twoRuns = [{ said: 'go' }, same, { answered: 'no' }, { said: 'again' }, same];
  assert.deepEqual(await row(none, twoRuns, 'never'), { fired: 2, obeyed: 2, ignored: 0 });
});

test('[M31, M36] a backtest reports what would have been denied, asked, added and ended, and the cost', async () => {
  const set: RuleSet = {
    ...failing,
    gates: [
      defineGate({
        name: 'never',
        description: 'x',
        decide: ({ tool }) => (tool === 'rm' ? { deny: 'no' } : tool === 'mv' ? { ask: 'may it?' } : undefined),
      }),
      defineGate({
        name: 'faulty',
        description: 'x',
        decide: ({ tool }) => {
          if (tool === 'look') throw new Error('broken');
          return undefined;
        },
      }),
    ],
    stops: [stopWhen('long', ({ spent }) => spent.turns >= 4 && 'Too long.')],
  };
  const events = recorded({ name: 'none' }, [
    { said: 'go' },
    call('rm'),
    call('mv'),
    call('look'),
    call('run', 'failed'),
    call('run', 'failed'),
    { answered: 'Done.' },
  ]);
  const found = await backtest(compileBacktestRules([set]), events);
  assert.deepEqual(
    found.objected.map(({ turn, tool, decides, rule }) => [turn, tool, decides, rule]),
    [
      [1, 'rm', 'deny', 'never'],
      [2, 'mv', 'ask', 'never'],
      [3, 'look', 'deny', 'faulty'],
    ],
  );
  assert.deepEqual(
    found.injected.map(({ turn, rule }) => [turn, rule]),
    [
      [1, 'system-reminders'],
      [5, 'failing'],
    ],
    'the second failure is within the cooldown',
  );
  assert.ok(found.injected.every(({ tokens }) => tokens > 0));
  assert.deepEqual(
    found.halted.map(({ turn, rule }) => [turn, rule]),
    [[4, 'long']],
    'a run ends once',
  );
  assert.deepEqual([found.calls, found.turns], [5, 6]);
});

test('[M32, M35] rules why lists the origin of each note of a turn, the waiting notes, and the expired ones', () => {
  const long = 'words '.repeat(1500);
  const set: RuleSet = {
    name: 'test',
    reminders: [
      { name: 'first', tool: 'look', priority: 9, message: long, once: true },
      { name: 'second', tool: 'look', priority: 8, message: long, once: true },
      { name: 'third', tool: 'look', message: `late ${long}`, expiresAfter: 1, once: true },
    ],
  };
  const events = recorded(set, [{ said: 'go' }, call('look'), call('run'), { answered: 'Done.' }]);
  const second = explainTurn(events, [compileRuleSet(set)], 2);
  assert.deepEqual(
    second.shown.map(({ rule, priority, from }) => [rule, priority, from?.event, from?.about]),
    [['first', 9, 'tool-ended', 'look']],
  );
  assert.deepEqual(
    second.waited.map(({ rule }) => rule),
    ['second'],
  );
  assert.deepEqual(
    second.expired.map(({ rule, until }) => [rule, until]),
    [['third', 2]],
  );
  assert.deepEqual(
    explainTurn(events, [compileRuleSet(set)], 3).shown.map(({ rule }) => rule),
    ['second'],
  );
  const text = formatTurnExplanation(second);
  assert.match(text, /first: at tool-ended of look \(event \d+, turn 1\); priority 9/);
  assert.match(text, /These had to wait for a later turn:\n  second/);
  assert.match(text, /These were never shown, because their time was over:\n  third: [^\n]*until turn 2/);
  assert.match(formatTurnExplanation(explainTurn(events, [], 2)), /first: by a rule that is not in use here now/);
  assert.throws(() => explainTurn(events, [compileRuleSet(set)], 9), /has no turn 9/);
});
