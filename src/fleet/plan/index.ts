// Plans: a task as steps, each handled as a child run.
export { planOrchestration, type StepStatus } from './orchestrate.ts';
export { planSchema, parsePlan, type PlanStep } from './plan.ts';
