// The git branch of a directory for a status line, read at most every two seconds.
import { readGitBranch } from '../workspace/index.ts';

const branchCacheMs = 2000;
let cachedBranch: { readonly cwd: string; readonly at: number; readonly branch: string | undefined } | undefined;

/** The git branch; the status is computed for every event, the branch at most every two seconds. */
export function getCachedBranch(cwd: string): string | undefined {
  const now = performance.now();
  if (cachedBranch?.cwd !== cwd || now - cachedBranch.at > branchCacheMs)
    cachedBranch = { cwd, at: now, branch: readGitBranch(cwd) };
  return cachedBranch.branch;
}
