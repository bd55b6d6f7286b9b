// Behaviour 6: the queue of notes: safety first, by group, one note per key, a token budget per turn; each sent note is an event.
import assert from 'node:assert/strict';
import { Harness } from 'fairlead';
import { defineReminder, compileRuleSet } from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { says, scriptedProvider } from 'fairlead/testing';

const on = 'run-started';
const reminders = [
  defineReminder({ name: 'style', on, message: 'Two spaces.', group: 'project', once: true }),
  defineReminder({ name: 'history', on, message: `Background: ${'old words '.repeat(200)}`, expiresAfter: 5 }),
  defineReminder({ name: 'tests', on, message: 'Tests stand beside their source.', group: 'project', once: true }),
  defineReminder({ name: 'keys', on, message: 'Never print a key.', priority: 100, once: true }),
];
const log = memoryLog();
const harness = new Harness({
  provider: scriptedProvider([says('One.'), says('Two.')]),
  system: '',
  ...compileRuleSet({ name: 'queue', reminders }),
  maxNoteTokens: 300,
  runDir: null,
});
await harness.open(log);
await harness.ask('Begin.');
await harness.ask('Go on.');

const shown = log.events.flatMap((event) => (event.type === 'turn-started' ? [event.notes.map(({ key }) => key)] : []));
assert.deepEqual(shown, [['keys', 'system-reminders', 'style', 'tests'], ['history']]);
