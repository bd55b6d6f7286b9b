// The prompt history for the arrow keys: one JSON string per line, so that an entry may have several lines.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { AppDirs } from '../settings/dirs.ts';
import { makePrivateDir, readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

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
