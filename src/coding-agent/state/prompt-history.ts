// What the person typed on earlier days, for the arrow keys: one JSON text a line, so that an entry may have several lines.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { AppDirs } from '../settings/dirs.ts';
import { makePrivateDir, readTextIfExists, writeTextAtomic } from '../../stores/private-file.ts';

type StateContext = { readonly dirs: Pick<AppDirs, 'state'> };

const maxEntries = 1000;
/** How much longer the file may grow before it is made short again. */
const compactionSlack = 500;

const promptHistoryPath = ({ dirs }: StateContext): string => path.join(dirs.state, 'history');

/** The newest entries, oldest first; lines that are none are passed over, and so is a file that cannot be used: nobody's work hangs on it. */
export function readPromptHistory(settings: StateContext): readonly string[] {
  const file = promptHistoryPath(settings);
  let kept: readonly string[] = [];
  try {
    const lines = (readTextIfExists(file) ?? '').split('\n').filter(Boolean);
    kept = lines.slice(-maxEntries);
    if (lines.length > maxEntries + compactionSlack) writeTextAtomic(file, `${kept.join('\n')}\n`);
  } catch {
    // What could be read counts.
  }
  return kept.flatMap(parseHistoryEntry);
}

function parseHistoryEntry(line: string): readonly string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

/** Keeps an entry, if it can. One that begins with a space is not kept, as shells do it. */
export function appendPromptHistory(settings: StateContext, entry: string): void {
  if (entry.trim() === '' || entry.startsWith(' ')) return;
  const file = promptHistoryPath(settings);
  try {
    makePrivateDir(path.dirname(file));
    appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  } catch {
    // What was typed is said all the same.
  }
}
