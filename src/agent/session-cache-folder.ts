// The directory of cached values that were moved out of memory: created on first use, private, removed on close.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FairleadError } from '../core/index.ts';
import type { EncodedValue, StorageType } from './session-cache-codec.ts';

/** A value on disk. Its digest is in memory, so that a changed or truncated file is detected. */
export type StoredValue = { readonly path: string; readonly type: StorageType; readonly digest: string };

const extensions: Readonly<Record<StorageType, string>> = { json: 'json', binary: 'bin', v8: 'v8' };

/** Directories of this process, removed at exit if a program does not close its caches. */
const openFolders = new Set<string>();
const removeOpenFolders = (): void => {
  for (const folder of openFolders) rmSync(folder, { recursive: true, force: true });
};

/** Owns a directory, in the parent or in the temporary directory. */
export class SpillFolder {
  readonly #parent: string | undefined;
  #folder: string | undefined;
  #count = 0;

  constructor(parent?: string) {
    this.#parent = parent;
  }

  /** Writes a value to a temporary file and renames it, so that a file is complete or absent. */
  write({ type, bytes }: EncodedValue): StoredValue {
    const file = path.join(this.#ensureFolder(), `${++this.#count}.${extensions[type]}`);
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

  /** Removes a stored value; if that fails, it is removed with the directory. */
  remove({ path: file }: StoredValue): void {
    try {
      rmSync(file, { force: true });
    } catch {
      // The cache no longer refers to it.
    }
  }

  /** Removes the directory and its files. */
  close(): void {
    if (this.#folder === undefined) return;
    rmSync(this.#folder, { recursive: true, force: true });
    openFolders.delete(this.#folder);
    if (openFolders.size === 0) process.off('exit', removeOpenFolders);
    this.#folder = undefined;
  }

  #ensureFolder(): string {
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
