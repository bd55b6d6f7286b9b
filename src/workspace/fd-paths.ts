// Opens canonical paths and verifies that no link was put in their place meanwhile: the opened file is the one that was checked.
import { constants, existsSync } from 'node:fs';
import { mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { escapeInvisibleLine, systemErrorCode } from '../core/index.ts';
import { toWorkspaceError, workspaceError } from './errors.ts';

// A flag that the system does not have is undefined, which adds nothing.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Flags to open a file for reading: never waits for a pipe, never follows a link. */
export const readOnlyFlags: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Linux has a path for every open file. A name below it cannot be redirected by a link. Other systems keep a short gap between check and use. */
const fdFolder = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/** An open folder. */
export type OpenFolder = {
  /** Returns the path of a name in this folder, even if the folder's own path changes. */
  pathOf(name: string): string;
  readonly handle: FileHandle;
};

/** Opens a canonical file for reading. */
export const openNoFollow = (canonical: string): Promise<FileHandle> => openVerified(canonical, readOnlyFlags);

/** Runs work with a canonical folder that is kept open meanwhile. */
export async function withOpenFolder<T>(canonical: string, work: (folder: OpenFolder) => Promise<T>): Promise<T> {
  const handle = await openVerified(canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    return await work({ handle, pathOf: (name) => path.join(fdBasePath(handle, canonical), name) });
  } finally {
    await handle.close();
  }
}

/** The same for a folder that is created first if needed, with its parents. */
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
