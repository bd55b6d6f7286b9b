// Runs the examples of rules: each rule must decide as its example states, on a fixture log without a model.
import { callId, errorMessage, type ToolCall, type NamedView, type Rule, type RunState } from '../../core/index.ts';
import type { GateRule, GateExample } from '../gates/gate-rule.ts';
import type { ReminderDefinition, ReminderExample } from '../reminders/definition.ts';
import { isNoteOf } from '../reminders/reminder-state.ts';
import { compileReminders } from '../reminders/compile-reminders.ts';
import type { StopRule } from '../stop-conditions/stop-conditions.ts';
import { buildFixtureLog, turnEndedFact, turnStartedFact, type ExampleStep } from './fixture-log.ts';

/** The result of an example; `failure` says what was decided instead. */
export type ExampleResult = { readonly rule: string; readonly title: string; readonly failure?: string };

/** Evaluates a gate for the call of an example, after its history. */
export async function runGateExample(
  rule: GateRule,
  { title, history = [], call, decides }: GateExample,
): Promise<ExampleResult> {
  const steps: readonly ExampleStep[] = history.some((step) => 'said' in step) ? history : [{ said: 'go' }, ...history];
  const { state, call: pendingCall } = replayToCall(steps, call, rule.views);
  const decisions: string[] = [];
  for (const gate of rule.gates) {
    try {
      decisions.push((await gate(pendingCall, state)).type);
    } catch (error) {
      decisions.push('deny', errorMessage(error));
    }
  }
  const decided = ['deny', 'ask', 'rewrite'].find((type) => decisions.includes(type)) ?? 'allow';
  return {
    rule: rule.name,
    title,
    ...(decided === decides ? {} : { failure: `It decides ${decided}, not ${decides}.` }),
  };
}

function replayToCall(
  history: readonly ExampleStep[],
  { tool, input = {} }: GateExample['call'],
  views: readonly NamedView<unknown>[],
): { readonly state: RunState; readonly call: ToolCall } {
  const parts = { views };
  const before = buildFixtureLog(history, parts).state;
  const steps: readonly ExampleStep[] = [...history, { fact: turnStartedFact(before) }];
  const inTurn = buildFixtureLog(steps, parts).state;
  const id = callId(inTurn.turn, 0);
  const { state } = buildFixtureLog(
    [...steps, { fact: turnEndedFact(inTurn, [{ type: 'tool-call', id, tool, input }]) }],
    parts,
  );
  return { state, call: { id, tool, input } };
}

/** Tests whether a reminder fires at the last event of its example. */
export function runReminderExample(
  reminder: ReminderDefinition,
  { title, history, fires }: ReminderExample,
  views: readonly NamedView<unknown>[] = [],
): ExampleResult {
  const { rules, views: reminderViews } = compileReminders('example', [reminder]);
  let fired = false;
  const last = buildFixtureLog(history, { views: reminderViews }).events.length;
  const observedRules: readonly Rule[] = rules.map((rule) => (event, state) => {
    const notes = rule(event, state);
    if (event.seq === last) fired = notes.some(({ key }) => isNoteOf(reminder.name, key));
    return notes;
  });
  buildFixtureLog(history, { rules: observedRules, views: [...reminderViews, ...views] });
  const actual = fired ? 'It fires.' : 'It does not fire.';
  return { rule: reminder.name, title, ...(fired === fires ? {} : { failure: actual }) };
}

/** A history, and whether a stop condition must stop it. */
export type StopExample = {
  readonly title: string;
  readonly stop: string;
  readonly history: readonly ExampleStep[];
  readonly stops: boolean;
};

/** Tests whether a stop condition stops the history of its example. */
export function runStopExample(rule: StopRule, { title, history, stops }: StopExample): ExampleResult {
  const decision = rule.evaluate(buildFixtureLog(history, { views: rule.views }).state);
  const actual = decision ? `It stops the run: ${decision.detail}` : 'It does not stop the run.';
  return { rule: rule.name, title, ...((decision !== undefined) === stops ? {} : { failure: actual }) };
}
