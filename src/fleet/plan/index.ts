// Plans: a task in steps, each a durable run of its own.
export { planOrchestration, type StepStatus } from './orchestrate.ts';
export { planSchema, parsePlan, type PlanStep } from './plan.ts';
