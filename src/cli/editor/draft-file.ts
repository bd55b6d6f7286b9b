// What a person is writing in an editor, in a file that only they can read and that outlives every failure.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file to be edited, alone in a folder of its own. */
export type DraftFile = {
  readonly dir: string;
  readonly file: string;
  /** What it holds now; fails where that is not text. */
  read(): string;
  remove(): void;
};

/** Writes a text into a new file whose name ends like this. */
export function createDraftFile(text: string, suffix: string): DraftFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-edit-'));
  const file = path.join(folder, `edit${suffix}`);
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  return {
    dir: folder,
    file,
    read: () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The sentence that tells where something was kept. */
export const draftKeptMessage = (file: string): string => `What was written is in ${file}.`;
