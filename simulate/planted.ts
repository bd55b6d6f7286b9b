// Planted bugs: the protection behind an invariant is removed from the simulated environment, and the simulation must find that.
import { runSchedule } from './schedule.ts';
import type { StoreProtection } from './store-state.ts';
import type { Invariant } from './world.ts';

/** A planted bug: what is removed, and which invariants must notice it. */
export type PlantedBug = {
  readonly name: string;
  readonly description: string;
  readonly removed: StoreProtection;
  readonly finds: readonly Invariant[];
  /** The scenarios that are searched; all by default. */
  readonly scenario?: string;
};

/** The result of the search for a planted bug. */
export type PlantedResult = {
  readonly bug: PlantedBug;
  /** How many schedules were run until an invariant noticed it; undefined if none did. */
  readonly foundAfter: number | undefined;
  readonly seed: number | undefined;
  readonly invariant: Invariant | undefined;
};

/** The planted bugs. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'budget',
    description: 'The store reserves more than the budget allows.',
    removed: 'budget',
    finds: ['budget'],
  },
];

/** Searches for each planted bug, up to so many schedules. */
export async function findPlantedBugs(
  maxSchedules: number,
  bugs: readonly PlantedBug[] = plantedBugs,
): Promise<readonly PlantedResult[]> {
  const results: PlantedResult[] = [];
  for (const bug of bugs) results.push(await findPlantedBug(bug, maxSchedules));
  return results;
}

async function findPlantedBug(bug: PlantedBug, maxSchedules: number): Promise<PlantedResult> {
  for (let seed = 1; seed <= maxSchedules; seed++) {
    const { violations } = await runSchedule({ seed, scenario: bug.scenario, removed: new Set([bug.removed]) });
    const found = violations.find(({ invariant }) => bug.finds.includes(invariant));
    if (found) return { bug, foundAfter: seed, seed, invariant: found.invariant };
  }
  return { bug, foundAfter: undefined, seed: undefined, invariant: undefined };
}

/** Formats the results as a table. */
export const formatPlanted = (results: readonly PlantedResult[]): string =>
  [
    '| planted bug | invariant | schedules |',
    '|---|---|---|',
    ...results.map(
      ({ bug, foundAfter, invariant }) =>
        `| ${bug.name}: ${bug.description} | ${invariant ?? bug.finds.join(', ')} | ${foundAfter ?? 'not found'} |`,
    ),
  ].join('\n');
