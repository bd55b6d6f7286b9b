// Rules as data: they compile to the same objects as code, decide the same, and invalid ones get one sentence.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@cfworker/json-schema';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
} from '../../../test/support/core-fixture.ts';
import { runStateView } from '../../core/index.ts';
import { buildFixtureLog, type ExampleStep } from '../testing/fixture-log.ts';
import type { toolFailures } from '../session-stats/selectors.ts';
import { sessionStats } from '../session-stats/view.ts';
import { compileReminders } from '../reminders/compile-reminders.ts';
import { stopWhen } from '../stop-conditions/stop-conditions.ts';
import { compileRules, validateRules, rulesSchema } from './compile.ts';
import { evaluateCondition, conditionFacts, type Condition } from './conditions.ts';
import type { DeclaredRules } from './rule-file-types.ts';
import { compileRuleSet } from './rule-set.ts';
import { runRuleSetExamples } from '../testing/run-rule-set-examples.ts';

const failing: ExampleStep = { called: 'run_command', outcome: 'failed', result: 'No.' };

const declaredRules: DeclaredRules = {
  name: 'house-rules',
  reminders: [
    {
      name: 'failing',
      on: 'tool-ended',
      tool: 'run_command',
      when: { fact: 'failures', tool: 'run_command', atLeast: 3 },
      message: '{tool} failed {failures} times. {unknown} stays.',
      cooldown: 10,
      examples: [
        { title: 'three', history: [{ said: 'go' }, failing, failing, failing], fires: true },
        { title: 'two', history: [{ said: 'go' }, failing, failing], fires: false },
      ],
    },
  ],
  builtIn: { 'half-full': { threshold: 70 }, 'harmful-code': { off: true } },
  gates: [
    { type: 'read-before-edit' },
    { type: 'confirm', name: 'deleting', tools: ['delete_file'] },
    { type: 'rate-limit', tool: 'run_command', most: 3, per: 'turn', count: 'retries' },
    { type: 'order', tools: ['search', 'view', 'use'] },
    { type: 'exclusive', tools: ['merge', 'rebase'] },
    {
      type: 'deny',
      name: 'no-force',
      tools: ['git_push'],
      when: { fact: 'argument', field: 'flags', contains: '--force' },
      reason: 'Never push with force.',
      examples: [
        { title: 'force', call: { tool: 'git_push', input: { flags: '--force' } }, decides: 'deny' },
        { title: 'plain', call: { tool: 'git_push', input: { flags: '' } }, decides: 'allow' },
      ],
    },
    {
      type: 'phases',
      phases: { plan: ['read_file'], act: ['write_file'] },
      start: 'plan',
      moves: [{ after: 'submit_plan', to: 'act' }],
      examples: [
        { title: 'before', call: { tool: 'write_file' }, decides: 'deny' },
        {
          title: 'after',
          history: [{ said: 'go' }, { called: 'submit_plan' }],
          call: { tool: 'write_file' },
          decides: 'allow',
        },
      ],
    },
  ],
  stops: [
    {
      type: 'any',
      name: 'enough',
      of: [
        { type: 'turns', most: 50 },
        {
          type: 'all',
          of: [
            { type: 'errors', most: 2 },
            { type: 'tokens', most: 1 },
          ],
        },
      ],
    },
    {
      type: 'when',
      name: 'loop',
      when: { any: [{ fact: 'loops', atLeast: 3 }, { not: { fact: 'turns', atMost: 100 } }] },
      detail: 'It goes round.',
    },
  ],
  renderers: [{ as: 'xml', tools: ['git_*'], models: ['claude-*'] }],
  examples: [
    { title: 'three times the same', stop: 'loop', history: [{ said: 'go' }, failing, failing, failing], stops: true },
    { title: 'once', stop: 'loop', history: [{ said: 'go' }, failing], stops: false },
  ],
};

test('[M44] rules as data compile to the same objects as rules in code, and every example holds', async () => {
  const set = compileRules(JSON.parse(JSON.stringify(declaredRules)));
  const trials = await runRuleSetExamples(set);
  assert.ok(trials.length > 40);
  assert.deepEqual(
    trials.filter(({ failure }) => failure !== undefined),
    [],
  );
  assert.equal(set.reminders?.length, 13);
  assert.deepEqual(Object.keys(compileRuleSet(set)), ['rules', 'views', 'gates', 'stops', 'checks', 'renderers']);
});

test('a failing example is reported, and so is an example for a missing stop condition', async () => {
  const wrong = compileRules({
    name: 'x',
    reminders: [
      { name: 'r', on: 'tool-ended', message: 'm', examples: [{ title: 't', history: [{ said: 'go' }], fires: true }] },
    ],
    gates: [
      { type: 'deny', tools: ['a'], reason: 'No.', examples: [{ title: 't', call: { tool: 'a' }, decides: 'allow' }] },
    ],
    examples: [{ title: 't', stop: 'none', history: [], stops: true }],
  });
  assert.deepEqual(
    (await runRuleSetExamples(wrong)).map((trial) => trial.failure),
    ['It does not fire.', 'It decides deny, not allow.', 'There is no stop condition of this name.'],
  );
});

test('[M44] a condition as data and one in code decide the same at every event', () => {
  const condition: Condition = {
    all: [{ fact: 'failures', tool: 'run_command', atLeast: 2 }, { not: { fact: 'calls', tool: 'look', atLeast: 2 } }],
  };
  const steps: readonly ExampleStep[] = [
    { said: 'go' },
    failing,
    { called: 'look' },
    failing,
    failing,
    { called: 'look' },
    failing,
  ];
  const coded = {
    name: 'coded',
    on: 'tool-ended',
    message: 'x',
    when: ({ state }: { state: Parameters<typeof toolFailures>[0] }) => evaluateCondition(condition, { state }),
  } as const;
  const data =
    compileRules({ name: 'x', reminders: [{ name: 'data', on: 'tool-ended', message: 'x', when: condition }] })
      .reminders ?? [];
  const { events } = buildFixtureLog([...steps, { answered: '' }], compileReminders('both', [coded, ...data]));
  const shown = events.flatMap((event) =>
    event.type === 'turn-started'
      ? [event.notes.map(({ key }) => key).filter((key) => key !== 'system-reminders')]
      : [],
  );
  assert.deepEqual(
    shown.map((keys) => keys.length % 2),
    shown.map(() => 0),
  );
  assert.ok(shown.some((keys) => keys.length === 2) && shown.some((keys) => keys.length === 0));
});

test('[M31] a gate on files checks every file that a call names', async () => {
  const decided = async (when: object, paths: readonly string[]): Promise<string | undefined> => {
    const { gates, views } = compileRuleSet(
      compileRules({ name: 'x', gates: [{ type: 'deny', reason: 'No.', when }] }),
    );
    const call = { id: 'c', tool: 'apply_patch', input: { paths, patch: '...' } };
    return (await gates[0]?.(call, runStateView([], views).initial))?.type;
  };
  const secret = { fact: 'path', is: '.env' };
  const elsewhere = { not: { fact: 'path', contains: 'src/' } };
  assert.equal(await decided(secret, ['src/a.ts', './.env']), 'deny');
  assert.equal(await decided(secret, ['src/a.ts']), 'allow');
  assert.equal(await decided(elsewhere, ['src/a.ts', '.env']), 'deny');
  assert.equal(await decided(elsewhere, ['src/a.ts', 'src/b.ts']), 'allow');
});

test('a message contains the values of the selectors it names', () => {
  const set = compileRules(declaredRules);
  const { state } = buildFixtureLog([{ said: 'go' }, failing, failing, failing], compileRuleSet(set));
  assert.equal(state.queue.find(({ key }) => key === 'failing')?.text, 'run_command failed 3 times. {unknown} stays.');
});

const invalidRules: Readonly<Record<string, readonly [unknown, RegExp]>> = {
  'not an object': [[], /^rules must be an object\.$/],
  'no name': [{}, /^rules has no "name"\.$/],
  'an unknown field': [{ name: 'x', reminder: [] }, /unknown field "reminder"; did you mean "reminders"/],
  'an unknown event': [
    { name: 'x', reminders: [{ name: 'r', on: 'tool-endd', message: 'm' }] },
    /reminders\[0\]\.on is "tool-endd", which is unknown; did you mean "tool-ended"/,
  ],
  'without events': [{ name: 'x', reminders: [{ name: 'r', message: 'm' }] }, /neither `on` nor `tool`/],
  'an unknown selector': [
    { name: 'x', reminders: [{ name: 'r', on: 'tool-ended', message: 'm', when: { fact: 'failure', atLeast: 1 } }] },
    /when\.fact is "failure", which is unknown; did you mean "failures"/,
  ],
  'a selector without a bound': [
    { name: 'x', stops: [{ type: 'when', when: { all: [{ fact: 'turns' }] } }] },
    /stops\[0\]\.when\.all\[0\] needs one of atLeast/,
  ],
  'an unknown gate': [{ name: 'x', gates: [{ type: 'denyy' }] }, /gates\[0\]\.type is "denyy"/],
  'a gate that denies everything': [
    { name: 'x', gates: [{ type: 'deny', reason: 'r' }] },
    /needs `tools`, `when`, or both/,
  ],
  'a missing phase': [
    { name: 'x', gates: [{ type: 'phases', phases: { a: [] }, start: 'b', moves: [] }] },
    /names the phase "b"/,
  ],
  'an unknown built-in': [
    { name: 'x', builtIn: { 'half-ful': {} } },
    /no reminder named "half-ful"; did you mean "half-full"/,
  ],
  'an invalid number': [
    { name: 'x', stops: [{ type: 'turns', most: 'many' }] },
    /most must be an integer of at least 1/,
  ],
};
for (const [what, [data, sentence]] of Object.entries(invalidRules))
  test(`invalid rules are refused with the problem: ${what}`, () => {
    const faults = validateRules(data);
    assert.equal(faults.length, 1, faults.join(' '));
    assert.match(faults[0] ?? '', sentence);
    assert.throws(() => compileRules(data), { code: 'rules/bad-rules' });
  });

test('the JSON Schema for editors agrees with the error messages', () => {
  const validator = new Validator(rulesSchema(), '2020-12');
  assert.deepEqual(validator.validate(declaredRules).errors, []);
  const shapes = Object.entries(invalidRules).filter(
    ([what]) => !/without events|without a bound|denies everything|missing phase|built-in/.test(what),
  );
  for (const [what, [data]] of shapes) assert.equal(validator.validate(data).valid, false, what);
});

test('every selector of the conditions works on any session', () => {
  const { state, events } = buildFixtureLog([{ said: 'go' }, { called: 'read_file', input: { path: 'a.ts' } }], {
    views: [sessionStats],
  });
  const event = events.at(-1);
  assert.ok(event);
  for (const [fact, { value }] of Object.entries(conditionFacts))
    assert.ok(
      ['number', 'string'].includes(typeof value({ state, event, call: { tool: 'read_file', input: {} } }, { fact })),
      fact,
    );
});

test('[M1, M40, M41] a rule set runs in the loop: state, rules, note queue and renderer change the conversation', async () => {
  const set = compileRules({ ...declaredRules, stops: [] });
  const run = createTestTool('run_command', 'external', () => {
    throw new Error('No.');
  });
  const lines = [
    replyWithCalls('run_command'),
    replyWithCalls('run_command'),
    replyWithCalls('run_command'),
    replyWithCalls('run_command'),
    replyWithCalls('run_command'),
    replyWithText('I give up.'),
  ];
  const stageWith = await createCoreFixture({
    replies: lines,
    tools: [run],
    limits: { errors: 50 },
    ...compileRuleSet({ ...set, stops: [stopWhen('never', () => false)] }),
  });
  await stageWith.run();
  const outcomes = stageWith.eventsOfType('tool-ended').map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['failed', 'failed', 'failed', 'failed', 'denied']);
  const notes = stageWith.eventsOfType('turn-started').map(({ notes: shown }) => shown.map(({ key }) => key));
  assert.deepEqual(notes, [['system-reminders'], [], [], ['failing-commands', 'failing'], [], []]);
  assert.equal(stageWith.eventsOfType('run-ended').at(-1)?.reason, 'answered');
});
