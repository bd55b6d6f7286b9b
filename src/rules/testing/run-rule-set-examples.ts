// Runs all examples of a rule set. Separate from the rules, which run without them.
import { runGateExample, runReminderExample, runStopExample, type ExampleResult } from './run-examples.ts';
import type { RuleSet } from '../declarative/rule-set.ts';

/** Runs every example of the rules of a set. */
export async function runRuleSetExamples({
  reminders = [],
  gates = [],
  stops = [],
  views = [],
  examples = [],
}: RuleSet): Promise<readonly ExampleResult[]> {
  const reminded = reminders.flatMap((reminder) =>
    (reminder.examples ?? []).map((example) => runReminderExample(reminder, example, views)),
  );
  const gated = gates.flatMap((gate) => gate.examples.map((example) => runGateExample(gate, example)));
  const stopped = examples.map((example): ExampleResult => {
    const rule = stops.find(({ name }) => name === example.stop);
    return rule
      ? runStopExample(rule, example)
      : { rule: example.stop, title: example.title, failure: 'There is no stop condition of this name.' };
  });
  return [...reminded, ...(await Promise.all(gated)), ...stopped];
}
