// Plans of the mode `plan`: their files, their steps, and how an approved plan is carried out.
export { carryOutPlan, type PlanEnd, type PlanHost, type StepEnd } from './carry-out.ts';
export { getPlanFile, readPlan, writePlan, type Plan } from './plan-file.ts';
export {
  formatPlanProgress,
  parsePlanSteps,
  planProgressKey,
  planProgressView,
  type PlanProgress,
  type PlanStep,
  type PlanStepState,
} from './plan-steps.ts';
