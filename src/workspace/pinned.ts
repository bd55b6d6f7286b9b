// Opens what a canonical path names and makes sure that no link took its place in between: what is opened is what was judged.
import { constants, existsSync } from 'node:fs';
import { mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { escapeInvisibleLine } from '../core/index.ts';
import { codeOf, explain, refuse } from './trouble.ts';

// Where a system does not have one of them it is undefined, which adds nothing to the flags.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** How a file is opened for reading: never waiting for a pipe, never following a link. */
export const readOnly: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Linux names every open file: a name below that one cannot be led elsewhere by a link. Elsewhere a moment stays between check and use. */
const descriptors = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/** A folder that is held open. */
export type Pinned = {
  /** The path of a name in this very folder, whatever happens to the folder's own path. */
  at(name: string): string;
  readonly handle: FileHandle;
};

/** Opens a canonical file for reading. */
export const openFile = (canonical: string): Promise<FileHandle> => opened(canonical, readOnly);

/** Does some work in a canonical folder that is held open meanwhile. */
export async function inFolder<T>(canonical: string, work: (folder: Pinned) => Promise<T>): Promise<T> {
  const handle = await opened(canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    return await work({ handle, at: (name) => path.join(baseOf(handle, canonical), name) });
  } finally {
    await handle.close();
  }
}

/** The same in a folder that may have to be made first, with every folder above it. */
export async function inMadeFolder<T>(canonical: string, work: (folder: Pinned) => Promise<T>): Promise<T> {
  if (existsSync(canonical)) return inFolder(canonical, work);
  await inMadeFolder(path.dirname(canonical), async (parent) => {
    try {
      await mkdir(parent.at(path.basename(canonical)));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw explain(error, canonical);
    }
  });
  return inFolder(canonical, work);
}

const baseOf = (handle: FileHandle, canonical: string): string =>
  descriptors ? `${descriptors}/${handle.fd}` : canonical;

async function opened(canonical: string, flags: number): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(canonical, flags);
    const real = descriptors ? await readlink(`${descriptors}/${handle.fd}`) : await realpath(canonical);
    if (real === canonical) return handle;
    throw refuse('changed', `${escapeInvisibleLine(canonical)} was moved or became a link while it was opened.`);
  } catch (error) {
    await handle?.close();
    throw explain(error, canonical);
  }
}
