// What is remembered from one start to the next, as the rest of the terminal uses it.
export { addToHistory, readHistory } from './entry-history.ts';
export { readKnownModels, refreshModels, type KnownModel, type Whence } from './models-file.ts';
export { readPreviousModel, rememberModel } from './previous-model.ts';
export { logged, openLog, type StartLog } from './start-log.ts';
export { tidyBeside } from './tidy-beside.ts';
