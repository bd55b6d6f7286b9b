// Plans: a task in steps, each a durable run of its own.
export { planConduct, type StepStanding } from './conduct.ts';
export { planSchema, readPlan, type PlanStep } from './plan.ts';
