// What files held before they were changed, each content once, under its sha256: the way back of an undo.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { sha256Hex } from './files.ts';
import { workspaceError } from './errors.ts';

/** A folder of contents. */
export type BlobStore = {
  put(bytes: Uint8Array): Promise<void>;
  /** The content with this hash; throws where it is not there, or is no longer what its name says. */
  get(hash: string): Promise<Uint8Array>;
};

/** Contents in this folder, readable by their owner alone; without a folder nothing is kept and nothing comes back. */
export function createBlobStore(folder: string | undefined): BlobStore {
  return {
    async put(bytes) {
      if (folder === undefined) return;
      const place = path.join(folder, sha256Hex(bytes));
      // What is needed anew is not old, whoever tidies up.
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
    `The earlier content (${hash.slice(0, 12)}) was not kept, so it cannot be put back.`,
    cause,
  );
