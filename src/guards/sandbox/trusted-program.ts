// Finds a program of the sandbox on the search path, never one that a command could have created by writing into a working folder.
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import type { SandboxPaths } from './sandbox.ts';

type SearchedPaths = Pick<SandboxPaths, 'roots' | 'path'>;

/** Finds a program of the sandbox: the first on PATH that a command could not have created by writing into a root. */
export const findTrustedProgram = (name: string, { roots, path: search }: SearchedPaths): string | undefined =>
  findIn(search.split(path.delimiter), name, roots);

/** Finds a program that only administrators need: on PATH, or in the `sbin` beside a `bin` of PATH, which is often not on the PATH of a user. */
export const findTrustedSystemProgram = (name: string, { roots, path: search }: SearchedPaths): string | undefined => {
  const folders = search.split(path.delimiter);
  const beside = folders.flatMap((each) =>
    path.basename(each) === 'bin' ? [path.join(path.dirname(each), 'sbin')] : [],
  );
  return findIn([...folders, ...beside], name, roots);
};

function findIn(folders: readonly string[], name: string, roots: readonly string[]): string | undefined {
  for (const folder of folders) {
    const program = path.join(folder, name);
    if (!path.isAbsolute(folder) || !existsSync(program)) continue;
    const real = realpathSync(program);
    if (isExecutable(real) && !roots.some((root) => isPathInside(root, program) || isPathInside(root, real)))
      return program;
  }
  return undefined;
}

/** Whether a path is a file that may be executed. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
