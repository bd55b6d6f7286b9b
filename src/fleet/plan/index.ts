// Plans: a task as steps, each handled as a child run.
export { createPlanOrchestration, planOrchestration } from './orchestrate.ts';
export type { DescribeCatalog, PlanCatalog, PlanModel } from './catalog.ts';
export { consentCall } from './consent.ts';
export { estimatePlan, type EstimateOptions, type PlanEstimate } from './estimate.ts';
export type { AttemptCost, PlanEvent, PlanStage, PlanStart, PlanState, StepRecord, StepStatus } from './events.ts';
export {
  defaultPlanCaps,
  maxPlanCaps,
  parsePlanOptions,
  type PlanCaps,
  type PlanOptions,
  type ResolvedPlanOptions,
} from './options.ts';
export {
  createPlanSchema,
  parsePlan,
  type ParsedPlan,
  type PlanBounds,
  type PlanStep,
  type StepLimits,
} from './plan.ts';
export { answerPlan, cancelStep, steerStep, type PlanControlStore } from './control.ts';
export { readPlan, type PlanStepView, type PlanView } from './read-plan.ts';
