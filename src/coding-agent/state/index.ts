// What is remembered from one start to the next, as the rest of the terminal uses it.
export { appendPromptHistory, readPromptHistory } from './prompt-history.ts';
export { readKnownModels, refreshModels, type KnownModel, type ModelEndpoint } from './model-cache.ts';
export { readLastModel, saveLastModel } from './last-model.ts';
export { withDebugLog, openDebugLog, type DebugLog } from './debug-log.ts';
export { startBackgroundCleanup } from './background-cleanup.ts';
