// Opens what a canonical path names and makes sure that no link took its place in between: what is opened is what was judged.
import { constants, existsSync } from 'node:fs';
import { mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { escapeInvisibleLine, systemErrorCode } from '../core/index.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

// Where a system does not have one of them it is undefined, which adds nothing to the flags.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** How a file is opened for reading: never waiting for a pipe, never following a link. */
export const readOnlyFlags: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Linux names every open file: a name below that one cannot be led elsewhere by a link. Elsewhere a moment stays between check and use. */
const fdFolder = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/** A folder that is held open. */
export type OpenFolder = {
  /** The path of a name in this very folder, whatever happens to the folder's own path. */
  pathOf(name: string): string;
  readonly handle: FileHandle;
};

/** Opens a canonical file for reading. */
export const openNoFollow = (canonical: string): Promise<FileHandle> => openVerified(canonical, readOnlyFlags);

/** Does some work in a canonical folder that is held open meanwhile. */
export async function withOpenFolder<T>(canonical: string, work: (folder: OpenFolder) => Promise<T>): Promise<T> {
  const handle = await openVerified(canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    return await work({ handle, pathOf: (name) => path.join(fdBasePath(handle, canonical), name) });
  } finally {
    await handle.close();
  }
}

/** The same in a folder that may have to be made first, with every folder above it. */
export async function withCreatedFolder<T>(canonical: string, work: (folder: OpenFolder) => Promise<T>): Promise<T> {
  if (existsSync(canonical)) return withOpenFolder(canonical, work);
  await withCreatedFolder(path.dirname(canonical), async (parent) => {
    try {
      await mkdir(parent.pathOf(path.basename(canonical)));
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw toWorkspaceError(error, canonical);
    }
  });
  return withOpenFolder(canonical, work);
}

const fdBasePath = (handle: FileHandle, canonical: string): string =>
  fdFolder ? `${fdFolder}/${handle.fd}` : canonical;

async function openVerified(canonical: string, flags: number): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(canonical, flags);
    const real = fdFolder ? await readlink(`${fdFolder}/${handle.fd}`) : await realpath(canonical);
    if (real === canonical) return handle;
    throw workspaceError(
      'changed',
      `${escapeInvisibleLine(canonical)} was moved or became a link while it was opened.`,
    );
  } catch (error) {
    await handle?.close();
    throw toWorkspaceError(error, canonical);
  }
}
