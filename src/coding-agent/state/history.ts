// What the user did before: the prompt history for the arrow keys, one JSON string per line so that an entry may have several lines, and the name of the last model, which the next start uses.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { AppDirs } from '../settings/dirs.ts';
import { makePrivateDir, readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import { errorMessage } from '../../core/index.ts';

type StateContext = { readonly dirs: Pick<AppDirs, 'state'> };

const maxEntries = 1000;
/** How many entries beyond the maximum the file may have before it is compacted. */
const compactionSlack = 500;

const promptHistoryPath = ({ dirs }: StateContext): string => path.join(dirs.state, 'history');

/** The newest entries, oldest first. Invalid lines, and a file that cannot be read, are ignored. */
export function readPromptHistory(settings: StateContext): readonly string[] {
  const file = promptHistoryPath(settings);
  let newest: readonly string[] = [];
  try {
    const lines = (readTextIfExists(file) ?? '').split('\n').filter(Boolean);
    newest = lines.slice(-maxEntries);
    if (lines.length > maxEntries + compactionSlack) writeTextAtomic(file, `${newest.join('\n')}\n`);
  } catch {
    // The entries that were read are used.
  }
  return newest.flatMap(parseHistoryEntry);
}

function parseHistoryEntry(line: string): readonly string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

/** Saves an entry if possible. As in shells, an entry that begins with a space is not saved. */
export function appendPromptHistory(settings: StateContext, entry: string): void {
  if (entry.trim() === '' || entry.startsWith(' ')) return;
  const file = promptHistoryPath(settings);
  try {
    makePrivateDir(path.dirname(file));
    appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  } catch {
    // The prompt is sent without being saved.
  }
}

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
