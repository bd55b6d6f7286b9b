// Looks up the file paths of answers in folders of the user; what is outside, or behind a link that leads outside, is not looked up.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

/** Returns whether a path exists; undefined if it is not looked up. */
export type FileLookup = (file: string) => Promise<boolean | undefined>;

/** Creates a lookup in these folders. A folder that does not exist is not looked up. */
export function createFileLookup(folders: readonly string[]): FileLookup {
  const roots = new Map<string, string>();
  for (const folder of folders) {
    const absolute = path.resolve(folder);
    if (existsSync(absolute)) roots.set(absolute, realpathSync.native(absolute));
  }
  return async (file) => {
    const found = [...roots].map(([folder, real]) => findFile(folder, real, file)).filter((each) => each !== 'outside');
    if (found.includes('exists')) return true;
    // Whether the target of a link exists must not be seen.
    return found.length === 0 || found.includes('linked') ? undefined : false;
  };
}

/** Max bytes of a file whose content is compared. */
const maxComparedBytes = 4_000_000;

/** Returns a function that says whether a file of a folder has had this content since before a time. The time of the last change of its status cannot be set by a program, in contrast to that of its content. */
export function createAgeLookup(folder: string): (file: string, hash: string, time: Date) => boolean {
  return (file, hash, time) => {
    const full = path.resolve(folder, file);
    const stats = readStats(full);
    if (!stats?.isFile() || stats.size > maxComparedBytes || !(stats.ctimeMs < time.getTime())) return false;
    try {
      return createHash('sha256').update(readFileSync(full)).digest('hex') === hash;
    } catch {
      return false;
    }
  };
}

function findFile(folder: string, real: string, file: string): 'exists' | 'missing' | 'linked' | 'outside' {
  // The home directory is not a part of the folder, and a NUL is not a part of a path.
  if (file.startsWith('~') || file.includes('\0')) return 'outside';
  const full = path.resolve(folder, file);
  const base = [folder, real].find((each) => isPathInside(each, full));
  if (base === undefined) return 'outside';
  let current = real;
  for (const name of path.relative(base, full).split(path.sep)) {
    current = path.join(current, name);
    const stats = readStats(current);
    if (!stats) return 'missing';
    if (stats.isSymbolicLink()) return isLinkInside(real, path.resolve(real, path.relative(base, full)));
  }
  return 'exists';
}

/** The stats of a file without following a link; undefined if it is not there or cannot be read. */
function readStats(file: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isLinkInside(real: string, full: string): 'exists' | 'linked' {
  try {
    return isPathInside(real, realpathSync.native(full)) ? 'exists' : 'linked';
  } catch {
    return 'linked';
  }
}
