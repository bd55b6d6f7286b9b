// Verification of an answer by other models.
export { judgementSchema, createVerifyOrchestration, type JudgeVerdict, type VerifyOptions } from './orchestrate.ts';
