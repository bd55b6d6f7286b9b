// The thirteen built-in reminders: each adds its note at its threshold, not before, and can be configured.
import assert from 'node:assert/strict';
import test from 'node:test';
import { runReminderExample } from '../testing/run-examples.ts';
import { builtInReminders, builtInReminderTable } from './built-in.ts';

test('[M19] there are thirteen built-in reminders, each with positive and negative examples', () => {
  const made = builtInReminders();
  assert.equal(made.length, 13);
  for (const { name, examples = [] } of made)
    assert.deepEqual(
      examples.map(({ fires }) => fires),
      [true, false],
      name,
    );
});

for (const [name, { threshold }] of Object.entries(builtInReminderTable)) {
  for (const tuned of threshold > 0 ? [threshold, threshold * 2] : [0]) {
    test(`[M19, M20] ${name} adds its note at ${tuned} and not before`, () => {
      const reminder = builtInReminders({ [name]: { threshold: tuned } }).find((each) => each.name === name);
      assert.ok(reminder);
      for (const example of reminder.examples ?? [])
        assert.equal(runReminderExample(reminder, example).failure, undefined, example.title);
    });
  }
}

test('the cooldowns match the table, and a reminder can be omitted or limited to other tools', () => {
  const made = new Map(
    builtInReminders({ 'empty-file': { off: true }, 'half-full': { cooldown: 3 } }, { read: ['cat'] }).map((each) => [
      each.name,
      each,
    ]),
  );
  assert.equal(made.size, 12);
  assert.equal(made.get('half-full')?.cooldown, 3);
  assert.equal(made.get('failing-commands')?.cooldown, 10);
  assert.equal(made.get('long-context')?.once, true);
  assert.deepEqual(made.get('cut-file')?.tool, ['cat']);
});
