// When reminders add notes, how often, at which position, and that they have no state outside the log.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixture,
} from '../../../test/support/core-fixture.ts';
import { messageText, toArray, type Fact, type RunState } from '../../core/index.ts';
import { buildFixtureLog, type ExampleStep } from '../testing/fixture-log.ts';
import { toolFailures } from '../session-stats/selectors.ts';
import { reminderSystemPrompt, shortReminderSystemPrompt, withReminderSystemPrompt } from './system-prompt-section.ts';
import type { ReminderDefinition } from './definition.ts';
import { defineReminder, compileReminders } from './compile-reminders.ts';
import { reminderEvents, allReminderTriggers } from './triggers.ts';

const failing: ExampleStep = { called: 'run', outcome: 'failed', result: 'No.' };

/** The turns in which each note was shown, without the initial notes. */
function shownNotes(steps: readonly ExampleStep[], ...reminders: readonly ReminderDefinition[]): readonly string[] {
  const { events } = buildFixtureLog(steps, compileReminders('test', reminders));
  return events.flatMap((event) =>
    event.type === 'turn-started'
      ? event.notes.filter(({ key }) => key !== 'system-reminders').map(({ key }) => `${event.turn} ${key}`)
      : [],
  );
}

const always: ReminderDefinition = { name: 'always', on: 'tool-ended', message: 'Mind it.' };

test('[M19, M39] a reminder is evaluated for its events only, and adds its note when its condition holds', () => {
  const seen: string[] = [];
  const reminder: ReminderDefinition = {
    name: 'third',
    on: ['tool-ended', 'run-ended'],
    when: ({ event, state, call }) => {
      seen.push(`${event.type} ${call?.tool}`);
      return toolFailures(state, 'run').inARow >= 2;
    },
    message: ({ state }) => `${toolFailures(state, 'run').inARow} failures.`,
  };
  assert.deepEqual(shownNotes([{ said: 'go' }, failing, failing, { answered: 'ok' }], reminder), ['3 third']);
  assert.deepEqual(seen, ['tool-ended run', 'tool-ended run']);
});

test('a cooldown as a number skips that many evaluations after the note was shown', () => {
  const steps: readonly ExampleStep[] = [{ said: 'go' }, ...Array.from({ length: 8 }, () => failing)];
  assert.deepEqual(shownNotes(steps, { ...always, cooldown: 0 }).length, 7);
  assert.deepEqual(shownNotes(steps, { ...always, cooldown: 2 }), ['2 always', '5 always', '8 always']);
});

test('a cooldown in turns waits that many turns, and with both given both must have passed', () => {
  const steps: readonly ExampleStep[] = [{ said: 'go' }, ...Array.from({ length: 9 }, () => failing)];
  assert.deepEqual(shownNotes(steps, { ...always, cooldown: { turns: 4 } }), ['2 always', '7 always']);
  assert.deepEqual(shownNotes(steps, { ...always, cooldown: { turns: 1, evaluations: 5 } }), ['2 always', '8 always']);
});

test('once means once per session, over runs, epochs and views that begin at an epoch', () => {
  const steps: readonly ExampleStep[] = [
    { said: 'go' },
    failing,
    failing,
    { compacted: true },
    { said: 'on' },
    failing,
    failing,
    { answered: 'ok' },
  ];
  assert.deepEqual(shownNotes(steps, { ...always, once: true }), ['2 always']);
});

test('[M35] a reminder that expires sets the last turn of its note', () => {
  const { rules, views } = compileReminders('test', [{ ...always, expiresAfter: 1 }]);
  const { state } = buildFixtureLog([{ said: 'go' }, failing], { rules, views });
  assert.deepEqual(
    state.queue.map(({ key, until }) => [key, until]),
    [['always', 2]],
  );
});

test('[M20] a reminder that is limited to a tool is evaluated only when that tool was called', () => {
  const bound: ReminderDefinition = {
    name: 'imports',
    tool: 'write_file',
    message: 'Never import in the middle of a file.',
  };
  const other: ExampleStep = { called: 'read_file' };
  const write: ExampleStep = { called: 'write_file', input: { path: 'a' } };
  assert.deepEqual(shownNotes([{ said: 'go' }, other, write, other, { answered: 'ok' }], bound), ['3 imports']);
  assert.deepEqual(
    shownNotes([{ said: 'go' }, write, other, write, write, write], { ...bound, cooldown: 2 }),
    ['2 imports'],
    'only its own tool counts as an evaluation',
  );
});

test('[M32, M33] priority and group reach the queue unchanged', () => {
  const { state } = buildFixtureLog(
    [{ said: 'go' }, failing],
    compileReminders('test', [
      { ...always, name: 'low', group: 'g' },
      { ...always, name: 'safe', priority: 100 },
    ]),
  );
  assert.deepEqual(
    state.queue.map(({ key, priority, group }) => [key, priority, group]),
    [
      ['low', undefined, 'g'],
      ['safe', 100, undefined],
    ],
  );
});

test('[M34] the subject keeps two notes of one reminder separate, and merges equal ones', () => {
  const each: ReminderDefinition = { ...always, subject: ({ call }) => String(call?.tool) };
  const { rules, views } = compileReminders('test', [each]);
  const twice: readonly Fact[] = ['a', 'b', 'a'].map((tool, i) => ({
    type: 'tool-ended',
    call: `${i}${tool}`,
    outcome: 'ok',
    text: '',
    ms: 0,
  }));
  const asked: Fact = {
    type: 'turn-ended',
    turn: 1,
    message: {
      role: 'assistant',
      parts: ['a', 'b', 'a'].map((tool, i) => ({ type: 'tool-call', id: `${i}${tool}`, tool, input: {} })),
    },
    finishReason: 'tool-calls',
    usage: {},
    model: 'm',
    ms: 1,
  };
  const { state } = buildFixtureLog(
    [{ said: 'go' }, { answered: 'x' }, ...[asked, ...twice].map((fact) => ({ fact }))],
    {
      rules,
      views,
    },
  );
  assert.deepEqual(state.queue.map(({ key }) => key).toSorted(), ['always/a', 'always/b']);
});

test('a reminder that throws or returns an invalid value is reported, and the others run', () => {
  const broken: ReminderDefinition = {
    ...always,
    name: 'broken',
    when: () => {
      throw new Error('a fault');
    },
  };
  const slow = { ...always, name: 'slow', when: () => Promise.resolve(true) } as unknown as ReminderDefinition;
  const { state } = buildFixtureLog([{ said: 'go' }, failing], compileReminders('test', [broken, slow, always]));
  assert.deepEqual(
    state.queue.map(({ key }) => key),
    ['rule-failed/broken', 'rule-failed/slow', 'always'],
  );
  assert.match(state.queue[0]?.text ?? '', /The reminder broken failed at tool-ended and added nothing: a fault/);
});

const conversationText = (state: RunState): string => toArray(state.messages).map(messageText).join('\n');

test('a session with reminders begins with one note that has its nonce; a session without reminders has none', () => {
  const steps: readonly ExampleStep[] = [{ said: 'go' }, { answered: 'ok' }, { said: 'on' }, { answered: 'ok' }];
  const told = conversationText(buildFixtureLog(steps, compileReminders('test', [always])).state);
  assert.equal(told.match(/<system-reminder name="system-reminders" nonce="n0nce">/g)?.length, 1);
  assert.match(told, /have nonce="n0nce"/);
  assert.equal(
    conversationText(buildFixtureLog(steps, compileReminders('test', [])).state).includes('system-reminder'),
    false,
  );
  const again = buildFixtureLog(
    [...steps, { compacted: true }, { said: 'more' }, { answered: 'ok' }],
    compileReminders('test', [always]),
  );
  const seeds = again.events.filter(
    (event) => event.type === 'turn-started' && event.notes.some(({ key }) => key === 'system-reminders'),
  );
  assert.equal(seeds.length, 2, 'a compacted history may have lost it');
});

test('[M17, M18, M48] the system prompt gets the section about reminders, with an example in their format, if there is a reminder', () => {
  assert.equal(withReminderSystemPrompt('Be kind.', []), 'Be kind.');
  assert.equal(withReminderSystemPrompt('Be kind.', [always]), `Be kind.\n\n${reminderSystemPrompt}`);
  assert.match(reminderSystemPrompt, /do not mention them unless the user asks/);
  const told = conversationText(
    buildFixtureLog([{ said: 'go' }, { answered: 'ok' }], compileReminders('test', [always])).state,
  );
  const [format] = /<system-reminder name="[\w-]+" nonce="\w+">/.exec(told) ?? [];
  assert.ok(format, told);
  for (const text of [reminderSystemPrompt, shortReminderSystemPrompt]) {
    const [example] = /<system-reminder name="failing-commands" nonce="N">[^<]+<\/system-reminder>/.exec(text) ?? [];
    assert.ok(example, text);
    assert.equal(
      example.split('>')[0]?.replaceAll(/"[^"]*"/g, '""'),
      format.slice(0, -1).replaceAll(/"[^"]*"/g, '""'),
      'the example has the format of a real block',
    );
  }
});

test('the sixteen event names map to facts', () => {
  assert.equal(Object.keys(reminderEvents).length, 16);
  assert.equal(allReminderTriggers.length, 16 + 17);
  const on = (name: keyof typeof reminderEvents): ReminderDefinition => ({ name, on: name, message: 'x' });
  const steps: readonly ExampleStep[] = [
    { said: 'go' },
    { called: 'run' },
    { model: 'other' },
    { answered: 'ok' },
    { compacted: true },
    { answered: 'ok' },
  ];
  const keys = new Set(
    shownNotes(steps, ...Object.keys(reminderEvents).map((name) => on(name as keyof typeof reminderEvents))).map(
      (line) => line.split(' ')[1],
    ),
  );
  assert.deepEqual(
    Object.keys(reminderEvents).filter((name) => !keys.has(name)),
    ['agent_end', 'session_switch', 'session_fork'],
    'what did not happen',
  );
});

test('an invalid reminder is refused with the problem', () => {
  const bad = {
    name: 'a b',
    on: 'tool-endd',
    message: ' ',
    cooldown: -1,
    expiresAfter: 0,
  } as unknown as ReminderDefinition;
  assert.throws(() => defineReminder(bad), {
    code: 'rules/bad-reminder',
    message:
      /name "a b".*no event named "tool-endd"; did you mean "tool-ended".*message is empty.*cooldown.*expiresAfter/,
  });
  assert.throws(() => defineReminder({ name: 'x', message: 'y' }), /neither `on` nor `tool`/);
});

async function startRun(): Promise<CoreFixture> {
  const reminder = defineReminder({ name: 'mind', tool: 'save', message: 'Saved: look at it.' });
  return createCoreFixture({
    ...compileReminders('test', [reminder]),
    replies: [replyWithCalls('save'), replyWithCalls('other'), replyWithText('done')],
    tools: [createTestTool('save', 'write', () => 'ok'), createTestTool('other', 'read', () => 'fine')],
  });
}

test('[M2, M3, M4, M5, M6] notes are added to user messages and tool results, and never inside a call or an answer', async () => {
  const set = await startRun();
  await set.run();
  const roles = set.requests.map((request) =>
    toArray(request.messages).map(({ role, parts }) => `${role}:${parts.map(({ type }) => type).join('+')}`),
  );
  assert.deepEqual(roles.at(-1), [
    'user:text+text',
    'assistant:tool-call',
    'tool:tool-result',
    'user:text',
    'assistant:tool-call',
    'tool:tool-result',
  ]);
  const notes = set.eventsOfType('turn-started').map(({ notes: each }) => each.map(({ key }) => key));
  assert.deepEqual(notes, [['system-reminders'], ['mind'], []]);
});
