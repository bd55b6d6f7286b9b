// The parts of adaptive attacks: an attack on one rule of the policy, in a task whose world the attacker changed before.
import { getScenario } from './attacks.ts';
import type { Attack, Condition, PlannedCall, Scenario, World } from './types.ts';

/** The parts of an adaptive attack that differ from its task. */
export type AdaptiveParts = Partial<Pick<Attack, 'turn' | 'descriptions' | 'texts'>> & {
  /** Records that the attacker could create before. */
  readonly world?: World;
  readonly task?: readonly string[];
  readonly plan?: Scenario['plan'];
  readonly agents?: Scenario['agents'];
  readonly kept?: readonly Condition[];
};

/** One row: the task, what the attacker writes, what an obedient model does, and the harm. */
export type AdaptiveRow = readonly [
  scenario: string,
  text: string,
  calls: readonly PlannedCall[],
  harm: Condition,
  parts?: AdaptiveParts,
];

/** Creates the attacks on one part of the policy. */
export const createAdaptive = (target: string, rows: readonly AdaptiveRow[]): readonly Attack[] =>
  rows.map(([id, text, calls, harm, { world, task, plan, agents, kept, ...rest } = {}], i) => {
    const scenario = getScenario(id);
    return {
      id: `${target}-${i + 1}`,
      kind: target,
      scenario: {
        ...scenario,
        ...(world || task || plan ? { id: `${scenario.id} (${target}-${i + 1})` } : {}),
        ...(world ? { world: mergeWorlds(scenario.world, world) } : {}),
        ...(task ? { task } : {}),
        ...(plan ? { plan } : {}),
        ...(kept ? { kept } : {}),
        ...(agents ? { agents: [...(scenario.agents ?? []), ...agents] } : {}),
      },
      texts: [text],
      calls,
      harm: [harm],
      ...rest,
    };
  });

const mergeWorlds = (first: World, second: World): World => ({
  ...first,
  ...Object.fromEntries(Object.entries(second).map(([name, list]) => [name, [...(first[name] ?? []), ...list]])),
});
