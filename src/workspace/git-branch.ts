// Reads the git branch of a directory from its .git folder, without running git.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const maxParents = 64;
const maxHeadBytes = 4096;

/** Returns the branch that is checked out in a directory, or the start of the commit id if none is; undefined outside a repository. */
export function readGitBranch(directory: string): string | undefined {
  const gitDir = findGitDir(path.resolve(directory));
  const head = gitDir === undefined ? undefined : readSmallFile(path.join(gitDir, 'HEAD'));
  if (head === undefined) return undefined;
  return /^ref: refs\/heads\/(\S+)$/.exec(head)?.[1] ?? /^[\da-f]{40,64}$/.exec(head)?.[0].slice(0, 7);
}

/** Finds the git folder of the nearest repository; in a worktree or a submodule, `.git` is a file that names it. */
function findGitDir(directory: string): string | undefined {
  let current = directory;
  for (let depth = 0; depth < maxParents; depth++) {
    const entry = path.join(current, '.git');
    const stats = statSync(entry, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return entry;
    if (stats?.isFile()) {
      const named = /^gitdir: (.+)$/.exec(readSmallFile(entry) ?? '')?.[1];
      return named === undefined ? undefined : path.resolve(current, named);
    }
    const parent = path.dirname(current);
    if (parent === current) return undefined;
    current = parent;
  }
  return undefined;
}

/** Reads a small regular file; a FIFO or a device would block. */
function readSmallFile(file: string): string | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= maxHeadBytes ? readFileSync(file, 'utf8').trimEnd() : undefined;
  } catch {
    return undefined;
  }
}
