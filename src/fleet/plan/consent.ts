// The question of a proposed plan.
import type { PlanState } from './events.ts';

/** The id of the question that a proposed plan waits for. */
export const consentCall = 'plan';

/** Returns the question of a proposed plan; it does not change while the plan waits. An answer to another question, such as that of an earlier revision, does not count. */
export function formatConsentQuestion({ estimate, steps, consent, revision }: PlanState): string {
  const cost = estimate?.usd === undefined ? 'unknown cost' : `about $${estimate.usd.toFixed(2)}`;
  const count = [...steps.values()].filter((step) => step.revision === revision).length;
  const plan = revision === 1 ? 'the plan' : `revision ${revision} of the plan`;
  return `Start ${plan} with ${count} ${count === 1 ? 'step' : 'steps'} (${cost})? It waits because ${consent}.`;
}
