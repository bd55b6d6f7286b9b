// Verification of an answer by models that did not write it.
export { judgementSchema, createVerifyOrchestration, type JudgeVerdict, type VerifyOptions } from './orchestrate.ts';
