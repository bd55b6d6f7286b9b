// The instruction files of a project: which text counts, and what changed.
export { changeQuestion, formatInstructionChanges } from './format-changes.ts';
export { loadProjectTexts, type ProjectTexts } from './project-texts.ts';
export type { AcceptInstructions, InstructionChange } from './review.ts';
