// Tries a rule set by the examples that its rules carry; apart from the rules, which run without them.
import { tryGate, tryReminder, tryStop, type Trial } from '../examples/trial.ts';
import type { RuleSet } from './rule-set.ts';

/** Tries every example that the rules of a set carry. */
export async function tryRules({
  reminders = [],
  gates = [],
  stops = [],
  views = [],
  examples = [],
}: RuleSet): Promise<readonly Trial[]> {
  const reminded = reminders.flatMap((reminder) =>
    (reminder.examples ?? []).map((example) => tryReminder(reminder, example, views)),
  );
  const gated = gates.flatMap((gate) => gate.examples.map((example) => tryGate(gate, example)));
  const stopped = examples.map((example): Trial => {
    const rule = stops.find(({ name }) => name === example.stop);
    return rule
      ? tryStop(rule, example)
      : { rule: example.stop, title: example.title, wrong: 'There is no stop of this name.' };
  });
  return [...reminded, ...(await Promise.all(gated)), ...stopped];
}
