// The model that was used last, by name: the one the next start begins with.
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import type { Places } from '../settings/places.ts';
import { readIfThere, replaceText } from '../settings/private-file.ts';

type Here = { readonly dirs: Pick<Places, 'state'> };

const previousFile = ({ dirs }: Here): string => path.join(dirs.state, 'previous_model_name');

/** The name of the model that was used last; nothing if none was, or if it cannot be read. */
export function readPreviousModel(settings: Here): string | undefined {
  try {
    return readIfThere(previousFile(settings))?.split('\n')[0]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the name of the model that is used now; writes only where it is another one. Why it could not is a sentence: nobody's work hangs on it. */
export function rememberModel(settings: Here, name: string): string | undefined {
  try {
    if (readPreviousModel(settings) !== name) replaceText(previousFile(settings), `${name}\n`);
    return undefined;
  } catch (error) {
    return `The next start will not know which model was used: ${errorMessage(error)}`;
  }
}
