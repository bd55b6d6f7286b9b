// The public names of the prompt files.
export { listPromptFiles, listShippedPrompts, readPromptFile, readSavedPrompt } from './prompt-files.ts';
