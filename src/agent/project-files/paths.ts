// Where a project begins and ends on disk, and whether a path stays inside it.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

/** What is wrong with a file that was passed over, for people to read. */
export type FileProblem = { readonly path: string; readonly why: string };

/** The folder of the repository that holds this folder; nothing outside of one. */
export function findRepositoryRoot(cwd: string): string | undefined {
  return ancestorDirs(cwd).find((folder) => existsSync(path.join(folder, '.git')));
}

/** The folder and all above it, up to one of them or to the root of the file system; nearest first. */
export function ancestorDirs(from: string, stopAt?: string): readonly string[] {
  const top = stopAt === undefined ? undefined : path.resolve(stopAt);
  const folders = [path.resolve(from)];
  for (;;) {
    const folder = folders.at(-1) as string;
    const above = path.dirname(folder);
    if (folder === top || above === folder) return folders;
    folders.push(above);
  }
}

/** The folders of the project around a working folder, nearest first: up to the repository's, or the working folder alone. */
export const projectDirs = (cwd: string, stopAt?: string): readonly string[] =>
  ancestorDirs(cwd, stopAt ?? findRepositoryRoot(cwd) ?? cwd);

/** Where a path really leads, links followed; nothing where it leads nowhere. */
export function tryRealPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Whether a path, links followed, stays inside a folder. */
export function resolvesInside(folder: string, file: string): boolean {
  const [top, real] = [tryRealPath(folder), tryRealPath(file)];
  return top !== undefined && real !== undefined && isPathInside(top, real);
}
