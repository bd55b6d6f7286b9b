// Counts schedules by scenario and fault, and collects their violations.
import type { FaultKind } from './faults.ts';
import type { ScheduleResult } from './schedule.ts';
import type { Violation } from './world.ts';

/** The violations of one schedule. */
export type FailedSchedule = {
  readonly seed: number;
  readonly scenario: string;
  readonly violations: readonly Violation[];
};

/** The counts of many schedules. */
export type Tally = {
  schedules: number;
  events: number;
  cpuMs: number;
  readonly scenarios: Record<string, number>;
  readonly faults: Partial<Record<FaultKind, number>>;
  readonly failed: FailedSchedule[];
};

/** Creates an empty tally. */
export const createTally = (): Tally => ({ schedules: 0, events: 0, cpuMs: 0, scenarios: {}, faults: {}, failed: [] });

/** Counts one schedule. */
export function countSchedule(tally: Tally, { seed, scenario, injected, violations, events }: ScheduleResult): void {
  tally.schedules += 1;
  tally.events += events;
  tally.scenarios[scenario] = (tally.scenarios[scenario] ?? 0) + 1;
  for (const { kind } of injected) tally.faults[kind] = (tally.faults[kind] ?? 0) + 1;
  if (violations.length > 0) tally.failed.push({ seed, scenario, violations });
}

/** Adds one tally to another. */
export function addTally(sum: Tally, part: Tally): void {
  sum.schedules += part.schedules;
  sum.events += part.events;
  sum.cpuMs += part.cpuMs;
  for (const [name, count] of Object.entries(part.scenarios)) sum.scenarios[name] = (sum.scenarios[name] ?? 0) + count;
  for (const [kind, count] of Object.entries(part.faults) as [FaultKind, number][])
    sum.faults[kind] = (sum.faults[kind] ?? 0) + count;
  sum.failed.push(...part.failed);
}

/** Formats a tally as lines of text. */
export function formatTally(tally: Tally, ms: number): string {
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const each = (total: number): string => (total / Math.max(1, tally.schedules)).toFixed(1);
  const failed = tally.failed.toSorted((a, b) => a.seed - b.seed);
  return [
    `${tally.schedules} schedules in ${(ms / 1000).toFixed(1)} s: ${each(ms)} ms and ${each(tally.cpuMs)} ms of processor time each, ${each(tally.events)} events each`,
    `scenarios: ${list(tally.scenarios)}`,
    `faults: ${list(tally.faults)}`,
    `violations: ${failed.length === 0 ? 'none' : `${failed.length} schedules`}`,
    ...failed
      .slice(0, 20)
      .flatMap(({ seed, scenario, violations }) =>
        violations.slice(0, 3).map(({ invariant, detail }) => `  seed ${seed} (${scenario}): ${invariant}: ${detail}`),
      ),
    ...(failed.length > 0 ? [`Reproduce one with: node simulate/main.ts --seed ${failed[0]?.seed}`] : []),
  ].join('\n');
}
