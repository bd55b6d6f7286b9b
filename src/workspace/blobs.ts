// What files held before they were changed, each content once, under its sha256: the way back of an undo.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { hashOf } from './files.ts';
import { refuse } from './trouble.ts';

/** A folder of contents. */
export type Blobs = {
  keep(bytes: Uint8Array): Promise<void>;
  /** The content with this hash; throws where it is not there, or is no longer what its name says. */
  get(hash: string): Promise<Uint8Array>;
};

/** Contents in this folder, readable by their owner alone; without a folder nothing is kept and nothing comes back. */
export function blobsIn(folder: string | undefined): Blobs {
  return {
    async keep(bytes) {
      if (folder === undefined) return;
      const place = path.join(folder, hashOf(bytes));
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
      if (folder === undefined || !/^[0-9a-f]{64}$/.test(hash)) throw gone(hash);
      const bytes = await readFile(path.join(folder, hash)).catch((cause: unknown) => {
        throw gone(hash, cause);
      });
      if (hashOf(bytes) !== hash) throw gone(hash);
      return bytes;
    },
  };
}

const gone = (hash: string, cause?: unknown): Error =>
  refuse('no-blob', `The earlier content (${hash.slice(0, 12)}) was not kept, so it cannot be put back.`, cause);
