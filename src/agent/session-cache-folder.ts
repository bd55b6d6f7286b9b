// The folder of values that were moved out of memory: made when first needed, private, and gone when closed.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FairleadError } from '../core/index.ts';
import type { EncodedValue, StorageType } from './session-cache-codec.ts';

/** A value on disk. The digest is kept in memory, so a file that was changed or cut off is not taken for the value. */
export type StoredValue = { readonly path: string; readonly type: StorageType; readonly digest: string };

const extensions: Readonly<Record<StorageType, string>> = { json: 'json', binary: 'bin', v8: 'v8' };

/** Folders of this process that are still there; a program that forgets to close leaves none behind. */
const openFolders = new Set<string>();
const removeOpenFolders = (): void => {
  for (const folder of openFolders) rmSync(folder, { recursive: true, force: true });
};

/** Owns a folder of its own, in the one given or among the temporary files. */
export class SpillFolder {
  readonly #parent: string | undefined;
  #folder: string | undefined;
  #count = 0;

  constructor(parent?: string) {
    this.#parent = parent;
  }

  /** Writes a value beside its place and moves it there: a file is whole or absent. */
  write({ type, bytes }: EncodedValue): StoredValue {
    const file = path.join(this.#ready(), `${++this.#count}.${extensions[type]}`);
    const draft = `${file}.tmp`;
    try {
      writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
      renameSync(draft, file);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    return { path: file, type, digest: sha256Base64(bytes) };
  }

  /** The bytes of a stored value. */
  read({ path: file, type, digest }: StoredValue): EncodedValue {
    const bytes = readFileSync(file);
    if (sha256Base64(bytes) === digest) return { type, bytes };
    throw new FairleadError('cache/damaged', `${file} is not what was written there.`, { blame: 'store' });
  }

  /** Removes a stored value; one that cannot be removed now goes with the folder. */
  remove({ path: file }: StoredValue): void {
    try {
      rmSync(file, { force: true });
    } catch {
      // Still in the folder, out of reach of the cache.
    }
  }

  /** Removes the folder with everything in it. */
  close(): void {
    if (this.#folder === undefined) return;
    rmSync(this.#folder, { recursive: true, force: true });
    openFolders.delete(this.#folder);
    if (openFolders.size === 0) process.off('exit', removeOpenFolders);
    this.#folder = undefined;
  }

  #ready(): string {
    if (this.#folder !== undefined) return this.#folder;
    const parent = this.#parent ?? tmpdir();
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    const folder = mkdtempSync(path.join(path.resolve(parent), 'fairlead-cache-'));
    if (openFolders.size === 0) process.once('exit', removeOpenFolders);
    openFolders.add(folder);
    this.#folder = folder;
    return folder;
  }
}

const sha256Base64 = (bytes: Uint8Array): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('base64');
