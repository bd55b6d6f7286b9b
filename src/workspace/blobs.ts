// The blob store: earlier contents of changed files, stored once under their sha256, for undo.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { sha256Hex } from './files.ts';
import { workspaceError } from './errors.ts';

/** A folder of contents. */
export type BlobStore = {
  put(bytes: Uint8Array): Promise<void>;
  /** Returns the content with this hash. Throws if it is missing or does not match the hash. */
  get(hash: string): Promise<Uint8Array>;
};

/** Creates a blob store in this folder, readable by its owner only. Without a folder, nothing is stored. */
export function createBlobStore(folder: string | undefined): BlobStore {
  return {
    async put(bytes) {
      if (folder === undefined) return;
      const place = path.join(folder, sha256Hex(bytes));
      // Updates its time, so that a cleanup does not remove it as old.
      if (existsSync(place)) return utimes(place, new Date(), new Date());
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = path.join(folder, `${randomUUID()}.tmp`);
      const handle = await open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, place);
    },
    async get(hash) {
      if (folder === undefined || !/^[0-9a-f]{64}$/.test(hash)) throw blobMissingError(hash);
      const bytes = await readFile(path.join(folder, hash)).catch((cause: unknown) => {
        throw blobMissingError(hash, cause);
      });
      if (sha256Hex(bytes) !== hash) throw blobMissingError(hash);
      return bytes;
    },
  };
}

const blobMissingError = (hash: string, cause?: unknown): Error =>
  workspaceError(
    'no-blob',
    `The earlier content (${hash.slice(0, 12)}) was not stored, so it cannot be restored.`,
    cause,
  );
