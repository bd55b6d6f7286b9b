// What is remembered from one start to the next, as the rest of the terminal uses it.
export { appendPromptHistory, readPromptHistory } from './entry-history.ts';
export { readKnownModels, refreshModels, type KnownModel, type ModelEndpoint } from './models-file.ts';
export { readLastModel, saveLastModel } from './previous-model.ts';
export { withDebugLog, openDebugLog, type DebugLog } from './start-log.ts';
export { startBackgroundCleanup } from './tidy-beside.ts';
