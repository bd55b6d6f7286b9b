// Combines stop conditions: any of them, or all of them.
import type { NamedView } from '../../core/index.ts';
import { createStopRule, type StopRule } from './stop-conditions.ts';

const collectViews = (rules: readonly StopRule[]): readonly NamedView<unknown>[] => [
  ...new Map(rules.flatMap(({ views }) => views).map((view) => [view.name, view])).values(),
];

/** Stops a run when the first of these conditions is met. */
export const anyOf = (...rules: readonly StopRule[]): StopRule =>
  createStopRule(
    `any(${rules.map(({ name }) => name).join(', ')})`,
    (state) => {
      for (const rule of rules) {
        const decision = rule.evaluate(state);
        if (decision) return decision;
      }
      return undefined;
    },
    collectViews(rules),
  );

/** Stops a run when all of these conditions are met, with the reason of the first and the details of all. An empty list never stops. */
export const allOf = (...rules: readonly StopRule[]): StopRule =>
  createStopRule(
    `all(${rules.map(({ name }) => name).join(', ')})`,
    (state) => {
      const decisions = rules.map(({ evaluate }) => evaluate(state));
      const [first] = decisions;
      if (!first || !decisions.every((each) => each !== undefined)) return undefined;
      return { reason: first.reason, detail: decisions.map(({ detail }) => detail).join(' ') };
    },
    collectViews(rules),
  );
