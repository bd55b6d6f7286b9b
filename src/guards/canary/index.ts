// The marker of a system prompt: a call that has it in its arguments is denied.
export { createCanaryGate } from './canary-gate.ts';
export { createCanarySearch, type CanaryForm } from './find-canary.ts';
