// Rule sets: reminders, gates, stop conditions and renderers under one name, compiled to one extension.
import type { Check, Gate, NamedView, Renderer, Rule, Stop } from '../../core/index.ts';
import type { GateRule } from '../gates/gate-rule.ts';
import type { StopExample } from '../testing/run-examples.ts';
import { sessionStats } from '../session-stats/view.ts';
import type { ReminderDefinition } from '../reminders/definition.ts';
import { compileReminders } from '../reminders/compile-reminders.ts';
import { createRenderer, type RendererChoice } from '../rendering/renderers.ts';
import type { StopRule } from '../stop-conditions/stop-conditions.ts';

/** Rules under one name. */
export type RuleSet = {
  /** Must be unique: the state of its reminders is stored under it. */
  readonly name: string;
  /** Reminders of the set. */
  readonly reminders?: readonly ReminderDefinition[];
  /** Gates of the set. */
  readonly gates?: readonly GateRule[];
  /** Stop conditions of the set. */
  readonly stops?: readonly StopRule[];
  /** Checks of the set. */
  readonly checks?: readonly Check[];
  /** Renderers of the set. */
  readonly renderers?: readonly RendererChoice[];
  /** Custom views that the rules read. */
  readonly views?: readonly NamedView<unknown>[];
  /** Examples of stop conditions. Reminders and gates contain their own. */
  readonly examples?: readonly StopExample[];
};

/** A compiled rule set: the parts of an agent. */
export type CompiledRuleSet = {
  readonly rules: readonly Rule[];
  readonly views: readonly NamedView<unknown>[];
  readonly gates: readonly Gate[];
  readonly stops: readonly Stop[];
  readonly checks: readonly Check[];
  readonly renderers: readonly Renderer[];
};

/** Compiles a rule set to an extension. */
export function compileRuleSet({
  name,
  reminders = [],
  gates = [],
  stops = [],
  checks = [],
  renderers = [],
  views = [],
}: RuleSet): CompiledRuleSet {
  const compiledReminders = compileReminders(name, reminders);
  const allViews = [
    sessionStats,
    ...compiledReminders.views,
    ...[...gates, ...stops].flatMap((each) => each.views),
    ...views,
  ];
  return {
    rules: compiledReminders.rules,
    views: [...new Map(allViews.map((view) => [view.name, view])).values()],
    gates: gates.flatMap((each) => each.gates),
    stops: stops.flatMap((each) => each.stops),
    checks,
    renderers: renderers.map(createRenderer),
  };
}
