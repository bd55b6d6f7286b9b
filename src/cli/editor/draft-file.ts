// The temporary file that the user edits: readable only by the user, and kept if the edit fails.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file to edit, alone in its own directory. */
export type DraftFile = {
  readonly dir: string;
  readonly file: string;
  /** Returns the content; throws if it is not UTF-8 text. */
  read(): string;
  remove(): void;
};

/** Writes a text to a new file with this suffix. */
export function createDraftFile(text: string, suffix: string): DraftFile {
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-edit-'));
  const file = path.join(dir, `edit${suffix}`);
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  return {
    dir,
    file,
    read: () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The sentence that names the file with the unsaved text. */
export const draftKeptMessage = (file: string): string => `Your text is in ${file}.`;
