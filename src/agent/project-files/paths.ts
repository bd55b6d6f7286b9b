// The directories of a project, and whether a path stays inside one.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

/** Why a file was skipped. */
export type FileProblem = { readonly path: string; readonly why: string };

/** The root of the repository that contains this directory; undefined outside of one. */
export function findRepositoryRoot(cwd: string): string | undefined {
  return ancestorDirs(cwd).find((folder) => existsSync(path.join(folder, '.git')));
}

/** The directory and its ancestors, up to `stopAt` or the root of the file system, nearest first. */
export function ancestorDirs(from: string, stopAt?: string): readonly string[] {
  const top = stopAt === undefined ? undefined : path.resolve(stopAt);
  const folders = [path.resolve(from)];
  for (;;) {
    const folder = folders.at(-1) as string;
    const parent = path.dirname(folder);
    if (folder === top || parent === folder) return folders;
    folders.push(parent);
  }
}

/** The directories of a project, nearest first: from the working directory up to the root of the repository, or the working directory alone. */
export const projectDirs = (cwd: string, stopAt?: string): readonly string[] =>
  ancestorDirs(cwd, stopAt ?? findRepositoryRoot(cwd) ?? cwd);

/** The real path of a file; undefined if it does not exist. */
export function tryRealPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Whether the real path of a file is inside a directory. */
export function resolvesInside(folder: string, file: string): boolean {
  const [top, real] = [tryRealPath(folder), tryRealPath(file)];
  return top !== undefined && real !== undefined && isPathInside(top, real);
}
