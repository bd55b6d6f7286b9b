// Opens a folder below a root without following links, and changes its entries even if a command made it read-only.
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';

/** Opens a folder itself, without read permission; Node does not name this flag of Linux. */
const openPathFlag = 0o10_000_000;
const folderFlags = constants.O_DIRECTORY | constants.O_NOFOLLOW | openPathFlag;
const ownerPermissions = 0o700;

/**
 * Runs an operation on the entries of a folder, with a path that still means this folder if a running command replaces it by a link.
 * If the own user has no permission, it is granted for this operation. Throws if there is a link between the root and the folder.
 */
export function withOpenFolder<T>(root: string, folder: string, operation: (at: string) => T): T {
  if (process.platform !== 'linux') return withPermission(folder, operation);
  const names = path.relative(root, folder).split(path.sep).filter(Boolean);
  let descriptor = openSync(root, folderFlags);
  try {
    for (const name of names) {
      const next = withPermission(descriptorPath(descriptor), (at) => openSync(path.join(at, name), folderFlags));
      closeSync(descriptor);
      descriptor = next;
    }
    return withPermission(descriptorPath(descriptor), operation);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives the owner of a folder all permissions: a folder without write permission cannot be moved. */
export const grantOwnerPermissions = (root: string, folder: string): void =>
  withOpenFolder(root, folder, (at) => chmodSync(at, modeOf(at) | ownerPermissions));

/** Returns the folders between a root and a path below it, both excluded. */
export function foldersBetween(root: string, location: string): readonly string[] {
  const names = location
    .slice(root.length + 1)
    .split(path.sep)
    .slice(0, -1);
  return names.map((_, at) => path.join(root, ...names.slice(0, at + 1)));
}

/** Returns the first link between a root and a path, the path itself excluded. */
export const findLinkAbove = (root: string, location: string): string | undefined =>
  foldersBetween(root, location).find((folder) => lstatIfVisible(folder)?.isSymbolicLink());

/** Returns a check that is false for paths of a root that cannot exist, because their first name is absent: one read of the folder instead of one call for each path. */
export function createPresenceCheck(root: string): (location: string) => boolean {
  // A file system that ignores case finds a file under another name.
  if (process.platform !== 'linux') return () => true;
  let names: ReadonlySet<string>;
  try {
    names = new Set(readdirSync(root));
  } catch {
    return () => true;
  }
  const start = root.length + 1;
  return (location) => {
    const end = location.indexOf(path.sep, start);
    return names.has(location.slice(start, end < 0 ? undefined : end));
  };
}

/** Returns the metadata of a path; undefined if nothing is there, or if it cannot be reached. */
export function lstatIfVisible(at: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(at, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns a text that identifies what is at a path: it differs if another file took its place, also one that got the same inode number. */
export function identityOf(at: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(at, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

const descriptorPath = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

function withPermission<T>(folder: string, operation: (at: string) => T): T {
  try {
    return operation(folder);
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    const mode = modeOf(folder);
    chmodSync(folder, mode | ownerPermissions);
    try {
      return operation(folder);
    } finally {
      chmodSync(folder, mode);
    }
  }
}

function modeOf(folder: string): number {
  const descriptor = openSync(folder, constants.O_DIRECTORY | (process.platform === 'linux' ? openPathFlag : 0));
  try {
    return fstatSync(descriptor).mode & 0o7777;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns true if this is a folder, and not a link to one. */
export const isDirectory = (at: string): boolean => lstatIfVisible(at)?.isDirectory() === true;

/** Returns the names in a folder; none if it cannot be read. */
export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns true for an empty folder: git and other programs ignore one that is named `.git`. */
export const isEmptyDirectory = (at: string): boolean => {
  try {
    return isDirectory(at) && readdirSync(at).length === 0;
  } catch {
    return false;
  }
};

/** Returns the text of a regular file; undefined for a pipe, a device, a link or a file above the size, which are not opened. */
export function readSmallFile(file: string, maxBytes: number): string | undefined {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
