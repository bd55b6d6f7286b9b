// Records which protected files an approved call wrote while a command runs, each by its content, and finds everything else.
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { lstatIfVisible } from './open-folder.ts';

/** The accepted state of each file, by its real path. */
export type AcceptedFiles = Readonly<Record<string, string>>;

const maxFileBytes = 32 * 1024 * 1024;
const maxEntries = 10_000;

/** Returns the files with one more that is accepted. Without the hash of the bytes that were written, its present content is accepted. */
export function acceptFile(files: AcceptedFiles | undefined, file: string, contentHash?: string): AcceptedFiles {
  const state = readState(file);
  const isWritten =
    state !== undefined &&
    (contentHash === undefined || (state.startsWith('file ') && state.endsWith(` ${contentHash}`)));
  return isWritten ? { ...files, [file]: state } : { ...files };
}

/** Returns what differs from the accepted files at a path and below it: the path itself, or what is inside a folder that contains accepted files. */
export function findUnaccepted(location: string, accepted: AcceptedFiles = {}): readonly string[] {
  const files = Object.keys(accepted).filter((file) => isPathInside(location, file));
  if (files.length === 0) return lstatIfVisible(location) ? [location] : [];
  const found: string[] = [];
  const queue = [location];
  let entries = 0;
  for (let next = 0; next < queue.length; next++) {
    const at = queue[next] ?? location;
    const stats = lstatIfVisible(at);
    const holdsAccepted = files.some((file) => file !== at && isPathInside(at, file));
    if (stats?.isDirectory() && holdsAccepted) {
      const names = listEntries(at);
      entries += names?.length ?? 0;
      if (names === undefined || entries > maxEntries) return [location];
      for (const name of names) queue.push(path.join(at, name));
    } else if (stats && (accepted[at] === undefined || accepted[at] !== readState(at))) found.push(at);
  }
  return found;
}

function listEntries(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

/** Returns a text that describes a file: a link by its target, a regular file by its mode and content. A second name, through which a later command could change the file, is not accepted. */
function readState(file: string): string | undefined {
  try {
    if (lstatIfVisible(file)?.isSymbolicLink()) return `link ${readlinkSync(file)}`;
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { mode, nlink, size } = fstatSync(descriptor);
      if ((mode & constants.S_IFMT) !== constants.S_IFREG || nlink !== 1 || size > maxFileBytes) return undefined;
      return `file ${(mode & 0o7777).toString(8)} ${hash('sha256', readFileSync(descriptor))}`;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
