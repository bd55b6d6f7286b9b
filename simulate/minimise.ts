// Minimises a failing schedule: as few faults as possible that still break the same invariant.
import type { FaultPlan } from './faults.ts';
import { runSchedule, type ScheduleOptions, type ScheduleResult } from './schedule.ts';

/** Returns the schedule with fewest faults that still breaks an invariant which the given one breaks. */
export async function minimiseSchedule(options: ScheduleOptions, first: ScheduleResult): Promise<ScheduleResult> {
  const broken = new Set(first.violations.map(({ invariant }) => invariant));
  let best = first;
  const tryPlan = async (plan: FaultPlan): Promise<boolean> => {
    const result = await runSchedule({ ...options, plan, trace: undefined });
    const isSame = result.violations.some(({ invariant }) => broken.has(invariant));
    if (isSame) best = { ...result, violations: result.violations.filter(({ invariant }) => broken.has(invariant)) };
    return isSame;
  };
  // Faults that hit no call do nothing.
  const hit = new Set(first.injected.map(({ at }) => at));
  await tryPlan({ ...best.plan, faults: best.plan.faults.filter(({ at }) => hit.has(at)) });
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const fault of best.plan.faults)
      if (await tryPlan({ ...best.plan, faults: best.plan.faults.filter((each) => each !== fault) })) {
        isSmaller = true;
        break;
      }
  }
  if (best.plan.lossyNotifications) await tryPlan({ ...best.plan, lossyNotifications: false });
  if (best.plan.duplicateRequests) await tryPlan({ ...best.plan, duplicateRequests: false });
  return best;
}
