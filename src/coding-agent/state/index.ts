// The public names of the state module: what the program remembers between starts.
import type { AppDirs } from '../settings/dirs.ts';

export { appendPromptHistory, readPromptHistory } from './history.ts';
export {
  forgetModels,
  readAllKnownModels,
  readKnownModels,
  refreshModels,
  type KnownModel,
  type ModelEndpoint,
} from './model-cache.ts';
export { readLastModel, saveLastModel } from './history.ts';
export { withDebugLog, openDebugLog, type DebugLog } from './debug-log.ts';

/** Starts the cleanup of old files in the background; abort the controller to stop it. Errors are ignored: the next day it is tried again. */
export function startBackgroundCleanup(dirs: Pick<AppDirs, 'state' | 'data'>): AbortController {
  const stop = new AbortController();
  setImmediate(() => {
    void import('./cleanup.ts')
      .then(({ cleanUpState }) => cleanUpState(dirs, { signal: stop.signal }))
      .catch(() => undefined);
  });
  return stop;
}
