// A plan: steps that may depend on each other, as a model writes it down and as it is judged.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** One step of a plan. */
export type PlanStep = {
  readonly id: string;
  /** What is to be done, in words that stand for themselves. */
  readonly words: string;
  /** The steps whose results it needs. */
  readonly after: readonly string[];
};

/** Steps of one plan at most. */
export const maxPlanSteps = 20;

/** The schema a plan is held to. */
export const planSchema: JsonObject = {
  type: 'object',
  properties: {
    steps: {
      type: 'array',
      minItems: 1,
      maxItems: maxPlanSteps,
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', pattern: '^[a-z0-9-]{1,40}$' },
          words: { type: 'string', minLength: 1 },
          after: { type: 'array', items: { type: 'string' } },
        },
        required: ['id', 'words', 'after'],
        additionalProperties: false,
      },
    },
  },
  required: ['steps'],
  additionalProperties: false,
};

/** The steps of a plan that a model wrote, or what is wrong with it in a sentence. */
export function parsePlan(value: Json): readonly PlanStep[] | string {
  const steps = isObject(value) ? value['steps'] : undefined;
  if (!Array.isArray(steps) || steps.length === 0) return 'A plan needs a list of steps.';
  if (steps.length > maxPlanSteps) return `A plan has at most ${maxPlanSteps} steps.`;
  const plan: PlanStep[] = [];
  for (const step of steps) {
    const { id, words, after = [] } = isObject(step) ? step : {};
    const names = Array.isArray(after) ? after.filter((each) => typeof each === 'string') : [];
    if (typeof id !== 'string' || !/^[a-z0-9-]{1,40}$/.test(id))
      return 'Each step needs an id of small letters, digits and dashes.';
    if (typeof words !== 'string' || words.trim() === '') return `The step ${id} does not say what is to be done.`;
    if (plan.some((each) => each.id === id)) return `Two steps have the id ${id}.`;
    plan.push({ id, words, after: [...new Set(names)] });
  }
  return findDependencyError(plan) ?? plan;
}

/** Steps that need what is not there, or that wait for each other. */
function findDependencyError(plan: readonly PlanStep[]): string | undefined {
  for (const { id, after } of plan) {
    const missing = after.find((each) => !plan.some((step) => step.id === each));
    if (missing !== undefined) return `The step ${id} comes after ${missing}, which is no step.`;
  }
  const done = new Set<string>();
  for (let before = -1; before < done.size;) {
    before = done.size;
    for (const { id, after } of plan) if (after.every((each) => done.has(each))) done.add(id);
  }
  const stuck = plan.filter(({ id }) => !done.has(id)).map(({ id }) => id);
  return stuck.length > 0 ? `These steps wait for each other: ${stuck.join(', ')}.` : undefined;
}
