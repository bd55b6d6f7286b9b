// Tests of the simulation: invariants hold in some hundreds of schedules, planted bugs are found, and a seed decides everything.
import assert from 'node:assert/strict';
import test from 'node:test';
import { minimiseSchedule } from '../simulate/minimise.ts';
import { findPlantedBugs, plantedBugs } from '../simulate/planted.ts';
import { runSchedule } from '../simulate/schedule.ts';
import { scenarioNames } from '../simulate/scenarios.ts';
import type { Protection } from '../simulate/protections.ts';

/** Random texts that decide nothing. */
const withoutNonces = (line: string): string => line.replaceAll(/"nonce":"\w+"/g, '');

test('[A52, A53, A64, A95, A116] no invariant of a fleet is broken in 220 schedules with faults, 20 of each scenario', async () => {
  const failed: string[] = [];
  let faults = 0;
  for (const [i, scenario] of scenarioNames.entries())
    for (let seed = 1000 * i; seed < 1000 * i + 20; seed++) {
      const { violations, injected } = await runSchedule({ seed, scenario });
      faults += injected.length;
      for (const { invariant, detail } of violations)
        failed.push(`node simulate/main.ts --seed ${seed} --scenario ${scenario}: ${invariant}: ${detail}`);
    }
  assert.deepEqual(failed, []);
  assert.ok(faults > 200, `${faults} faults`);
});

test('the same seed gives the same schedule, event by event', async () => {
  for (const seed of [3, 14, 26_148]) {
    const traces: string[][] = [[], []];
    for (const trace of traces) await runSchedule({ seed, trace: (line) => void trace.push(withoutNonces(line)) });
    assert.ok((traces[0]?.length ?? 0) > 20);
    assert.deepEqual(traces[0], traces[1]);
  }
});

/** Bugs that few schedules find. */
const quickBugs: readonly Protection[] = ['fence', 'durable', 'lease-expiry', 'wake', 'idempotent-flag', 'approval'];

test('[A53, A116] planted bugs are found by the invariant that they break', async () => {
  const bugs = plantedBugs.filter(({ removed }) => quickBugs.includes(removed));
  for (const { bug, foundAfter } of await findPlantedBugs(300, bugs)) assert.ok(foundAfter !== undefined, bug.removed);
});

test('a failing schedule is minimised: fewer faults break the same invariant', async () => {
  const removed = 'idempotent-flag';
  for (let seed = 1; ; seed++) {
    const result = await runSchedule({ seed, removed });
    if (result.injected.length < 3 || !result.violations.some(({ invariant }) => invariant === 'effect-once')) continue;
    const { plan, violations } = await minimiseSchedule({ seed, removed }, result);
    assert.ok(plan.faults.length > 0 && plan.faults.length < result.injected.length, `${plan.faults.length} faults`);
    const again = await runSchedule({ seed, removed, plan });
    assert.deepEqual(
      violations.map(({ invariant }) => result.violations.some((each) => each.invariant === invariant)),
      violations.map(() => true),
    );
    assert.ok(again.violations.length > 0);
    return;
  }
});
