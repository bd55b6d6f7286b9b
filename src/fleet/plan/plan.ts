// The plan that a model writes: JSON schema, parser and dependency check.
import { isObject, type Json, type JsonObject } from '../../core/index.ts';

/** One step of a plan. */
export type PlanStep = {
  readonly id: string;
  /** The task of the step, complete in itself. */
  readonly words: string;
  /** The steps whose results it needs. */
  readonly after: readonly string[];
  /** Its result is verified before other steps read it. */
  readonly verify?: true;
};

/** The maximum number of steps of a plan. */
export const maxPlanSteps = 20;

/** The JSON Schema of a plan. */
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
          verify: {
            type: 'boolean',
            description: 'whether its result is verified claim by claim before other steps use it',
          },
        },
        required: ['id', 'words', 'after'],
        additionalProperties: false,
      },
    },
  },
  required: ['steps'],
  additionalProperties: false,
};

/** Returns the steps of a plan, or what is wrong with it. */
export function parsePlan(value: Json): readonly PlanStep[] | string {
  const steps = isObject(value) ? value['steps'] : undefined;
  if (!Array.isArray(steps) || steps.length === 0) return 'A plan needs a list of steps.';
  if (steps.length > maxPlanSteps) return `A plan has at most ${maxPlanSteps} steps.`;
  const plan: PlanStep[] = [];
  for (const step of steps) {
    const { id, words, after = [], verify } = isObject(step) ? step : {};
    const names = Array.isArray(after) ? after.filter((each) => typeof each === 'string') : [];
    if (typeof id !== 'string' || !/^[a-z0-9-]{1,40}$/.test(id))
      return 'Each step needs an id of lower-case letters, digits and dashes.';
    if (typeof words !== 'string' || words.trim() === '') return `The step ${id} has no task.`;
    if (plan.some((each) => each.id === id)) return `Two steps have the id ${id}.`;
    plan.push({ id, words, after: [...new Set(names)], ...(verify === true ? { verify } : {}) });
  }
  return findDependencyError(plan) ?? plan;
}

/** Returns what is wrong with the dependencies: a missing step or a cycle. */
function findDependencyError(plan: readonly PlanStep[]): string | undefined {
  for (const { id, after } of plan) {
    const missing = after.find((each) => !plan.some((step) => step.id === each));
    if (missing !== undefined) return `The step ${id} depends on ${missing}, which does not exist.`;
  }
  const done = new Set<string>();
  for (let before = -1; before < done.size;) {
    before = done.size;
    for (const { id, after } of plan) if (after.every((each) => done.has(each))) done.add(id);
  }
  const cycle = plan.filter(({ id }) => !done.has(id)).map(({ id }) => id);
  return cycle.length > 0 ? `These steps depend on each other: ${cycle.join(', ')}.` : undefined;
}
