// Rules that belong together: reminders, gates, stops and renderers under one name, as one extension.
import type { Check, Gate, NamedView, Renderer, Rule, Stop } from '../../core/index.ts';
import type { Enforcement } from '../enforcement/enforcement.ts';
import { tryGate, tryReminder, tryStop, type StopExample, type Trial } from '../examples/trial.ts';
import { history } from '../history/view.ts';
import type { ReminderDefinition } from '../reminders/definition.ts';
import { reminding } from '../reminders/reminding.ts';
import { rendererFor, type RendererChoice } from '../rendering/renderers.ts';
import type { StopRule } from '../stops/stops.ts';

/** Rules under one name. */
export type RuleSet = {
  /** One a set: what its reminders remember is kept under it. */
  readonly name: string;
  readonly reminders?: readonly ReminderDefinition[];
  readonly gates?: readonly Enforcement[];
  readonly stops?: readonly StopRule[];
  readonly checks?: readonly Check[];
  readonly renderers?: readonly RendererChoice[];
  /** Views of your own that the rules look at. */
  readonly views?: readonly NamedView<unknown>[];
  /** Examples of stops; reminders and gates carry their own. */
  readonly examples?: readonly StopExample[];
};

/** A rule set as the parts of an agent. */
export type RuleParts = {
  readonly rules: readonly Rule[];
  readonly views: readonly NamedView<unknown>[];
  readonly gates: readonly Gate[];
  readonly stops: readonly Stop[];
  readonly checks: readonly Check[];
  readonly renderers: readonly Renderer[];
};

/** The extension of a rule set. */
export function rulesOf({
  name,
  reminders = [],
  gates = [],
  stops = [],
  checks = [],
  renderers = [],
  views = [],
}: RuleSet): RuleParts {
  const remind = reminding(name, reminders);
  const looked = [history, ...remind.views, ...[...gates, ...stops].flatMap((each) => each.views), ...views];
  return {
    rules: remind.rules,
    views: [...new Map(looked.map((view) => [view.name, view])).values()],
    gates: gates.flatMap((each) => each.gates),
    stops: stops.flatMap((each) => each.stops),
    checks,
    renderers: renderers.map(rendererFor),
  };
}

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
