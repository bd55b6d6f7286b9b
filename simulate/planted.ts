// Planted bugs: the protection behind an invariant is removed from the simulated environment, and the simulation must find that.
import { protections, type Protection } from './protections.ts';
import { runSchedule } from './schedule.ts';

import type { Invariant } from './world.ts';

/** A planted bug: what is removed, and which invariants must notice it. */
export type PlantedBug = {
  readonly removed: Protection;
  readonly finds: readonly Invariant[];
  /** The scenario that is searched; all by default. */
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

const handled: readonly Invariant[] = ['effect-once', 'effect-not-lost', 'run-once', 'fences'];

/** The planted bugs. */
export const plantedBugs: readonly PlantedBug[] = [
  { removed: 'budget', finds: ['budget'] },
  { removed: 'reserved', finds: ['budget'] },
  { removed: 'fence', finds: ['fences'] },
  { removed: 'append-order', finds: handled },
  { removed: 'empty-append', finds: ['effect-once'] },
  { removed: 'durable', finds: handled },
  { removed: 'lease-expiry', finds: ['not-stuck'] },
  { removed: 'lost-claim', finds: ['not-stuck'] },
  { removed: 'session-order', finds: handled },
  { removed: 'known-run', finds: ['run-once', 'effect-once'] },
  { removed: 'wake', finds: ['not-stuck'] },
  { removed: 'unread-message', finds: ['message-once'] },
  { removed: 'clear-position', finds: ['message-once', 'not-stuck'] },
  { removed: 'kill-switch', finds: ['kill-switch'] },
  { removed: 'check-outcome', finds: ['effect-once'] },
  { removed: 'idempotency-key', finds: ['effect-once'] },
  { removed: 'idempotent-flag', finds: ['effect-once'] },
  { removed: 'approval', finds: ['approval-once'] },
  { removed: 'plan-order', finds: ['plan-order'] },
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
    const { violations } = await runSchedule({ seed, scenario: bug.scenario, removed: bug.removed });
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
        `| \`${bug.removed}\`: ${protections[bug.removed]} | ${invariant ?? bug.finds.join(', ')} | ${foundAfter ?? 'not found'} |`,
    ),
  ].join('\n');
