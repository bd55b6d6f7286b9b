// The graph of a plan: depths, missing steps and cycles.
import { maxOf } from '../../core/index.ts';

/** A node of the graph. */
type Node = { readonly id: string; readonly after: readonly string[] };

/** Returns the depth of each step, from 1: one more than the deepest step it depends on. Steps of a cycle have none. */
export function getDepths(steps: readonly Node[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  const known = new Set(steps.map(({ id }) => id));
  for (let before = -1; before < depths.size;) {
    before = depths.size;
    for (const { id, after } of steps) {
      const needs = after.filter((each) => known.has(each));
      if (depths.has(id) || !needs.every((each) => depths.has(each))) continue;
      depths.set(id, 1 + maxOf([0, ...needs.map((each) => depths.get(each) ?? 0)]));
    }
  }
  return depths;
}

/** Returns what is wrong with the dependencies: missing steps, cycles, and a chain that is too long. */
export function findGraphErrors(steps: readonly Node[], done: readonly string[], maxDepth: number): readonly string[] {
  const known = new Set([...done, ...steps.map(({ id }) => id)]);
  const missing = steps.flatMap(({ id, after }) =>
    after
      .filter((each) => !known.has(each))
      .map((each) => `The step ${id} depends on ${each.slice(0, 40)}, which does not exist.`),
  );
  if (missing.length > 0) return missing;
  const depths = getDepths(steps);
  const cycle = steps.filter(({ id }) => !depths.has(id)).map(({ id }) => id);
  if (cycle.length > 0) return [`These steps depend on each other: ${cycle.join(', ')}.`];
  const depth = maxOf([0, ...depths.values()]);
  return depth > maxDepth ? [`The longest chain of steps has ${depth} steps; at most ${maxDepth} are allowed.`] : [];
}
