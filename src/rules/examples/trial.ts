// Tries the examples that rules carry: each must decide as its example says, in a history that is played and not run.
import { callId, errorMessage, type ToolCall, type NamedView, type Rule, type RunState } from '../../core/index.ts';
import type { Enforcement, GateExample } from '../enforcement/enforcement.ts';
import type { ReminderDefinition, ReminderExample } from '../reminders/definition.ts';
import { isOf } from '../reminders/marks.ts';
import { reminding } from '../reminders/reminding.ts';
import type { StopRule } from '../stops/stops.ts';
import { play, turnEnd, turnStart, type ExampleStep } from './steps.ts';

/** How an example came out; `wrong` says what was decided instead. */
export type Trial = { readonly rule: string; readonly title: string; readonly wrong?: string };

/** Decides on the call of an example after its history. */
export async function tryGate(rule: Enforcement, { title, history = [], call, decides }: GateExample): Promise<Trial> {
  const begun: readonly ExampleStep[] = history.some((step) => 'said' in step) ? history : [{ said: 'go' }, ...history];
  const { state, call: asked } = asking(begun, call, rule.views);
  const found: string[] = [];
  for (const gate of rule.gates) {
    try {
      found.push((await gate(asked, state)).type);
    } catch (error) {
      found.push('deny', errorMessage(error));
    }
  }
  const decided = ['deny', 'ask', 'rewrite'].find((type) => found.includes(type)) ?? 'allow';
  return {
    rule: rule.name,
    title,
    ...(decided === decides ? {} : { wrong: `It decides ${decided}, not ${decides}.` }),
  };
}

function asking(
  history: readonly ExampleStep[],
  { tool, input = {} }: GateExample['call'],
  views: readonly NamedView<unknown>[],
): { readonly state: RunState; readonly call: ToolCall } {
  const parts = { views };
  const before = play(history, parts).state;
  const began: readonly ExampleStep[] = [...history, { fact: turnStart(before) }];
  const inTurn = play(began, parts).state;
  const id = callId(inTurn.turn, 0);
  const { state } = play([...began, { fact: turnEnd(inTurn, [{ type: 'tool-call', id, tool, input }]) }], parts);
  return { state, call: { id, tool, input } };
}

/** Whether a reminder speaks up at the last event of its example. */
export function tryReminder(
  reminder: ReminderDefinition,
  { title, history, fires }: ReminderExample,
  views: readonly NamedView<unknown>[] = [],
): Trial {
  const { rules, views: own } = reminding('example', [reminder]);
  let fired = false;
  const last = play(history, { views: own }).events.length;
  const listening: readonly Rule[] = rules.map((rule) => (event, state) => {
    const notes = rule(event, state);
    if (event.seq === last) fired = notes.some(({ key }) => isOf(reminder.name, key));
    return notes;
  });
  play(history, { rules: listening, views: [...own, ...views] });
  const did = fired ? 'It speaks up.' : 'It keeps quiet.';
  return { rule: reminder.name, title, ...(fired === fires ? {} : { wrong: did }) };
}

/** A history, and whether a stop condition must end it. */
export type StopExample = {
  readonly title: string;
  readonly stop: string;
  readonly history: readonly ExampleStep[];
  readonly stops: boolean;
};

/** Whether a stop condition ends the history of its example. */
export function tryStop(rule: StopRule, { title, history, stops }: StopExample): Trial {
  const found = rule.halt(play(history, { views: rule.views }).state);
  const did = found ? `It ends the run: ${found.detail}` : 'It lets the run go on.';
  return { rule: rule.name, title, ...((found !== undefined) === stops ? {} : { wrong: did }) };
}
