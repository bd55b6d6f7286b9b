// The name of the model that was used last; the next start uses it.
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import type { AppDirs } from '../settings/dirs.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

type StateContext = { readonly dirs: Pick<AppDirs, 'state'> };

const lastModelPath = ({ dirs }: StateContext): string => path.join(dirs.state, 'previous_model_name');

/** The name of the last model; absent if there is none or it cannot be read. */
export function readLastModel(settings: StateContext): string | undefined {
  try {
    return readTextIfExists(lastModelPath(settings))?.split('\n')[0]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Saves the name of the current model if it changed. Returns a warning if that fails: the work continues. */
export function saveLastModel(settings: StateContext, name: string): string | undefined {
  try {
    if (readLastModel(settings) !== name) writeTextAtomic(lastModelPath(settings), `${name}\n`);
    return undefined;
  } catch (error) {
    return `The next start will not know which model was used: ${errorMessage(error)}`;
  }
}
