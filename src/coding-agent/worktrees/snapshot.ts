// Writes the files of a folder as a git tree, without a change to its index: a command could have written the index, so every file is read.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { FolderGit } from './repository.ts';

/** The prefix of temporary index files, which is followed by the id of the process. */
export const indexPrefix = 'index-';

/** Runs a function with the name of a temporary index file. */
export async function withIndex<T>(folder: string, work: (index: string) => Promise<T>): Promise<T> {
  const index = path.join(folder, `${indexPrefix}${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    return await work(index);
  } finally {
    for (const each of [index, `${index}.lock`]) rmSync(each, { force: true });
  }
}

/** Returns the tree of all files that git does not ignore, without the given paths. */
export const snapshotFiles = (
  { must }: FolderGit,
  {
    folder,
    start,
    without = [],
  }: { readonly folder: string; readonly start: string; readonly without?: readonly string[] },
): Promise<string> =>
  withIndex(folder, async (index) => {
    await must(['read-tree', start], { index });
    await must(['add', '--all', '--', '.'], { index });
    if (without.length > 0)
      await must(['rm', '-r', '--cached', '--quiet', '--ignore-unmatch', '--', ...without], { index });
    return must(['write-tree'], { index });
  });

/** Returns a commit of a tree; it belongs to no branch. */
export const commitTree = (
  { must }: FolderGit,
  tree: string,
  {
    parents,
    message,
    settings,
  }: { readonly parents: readonly string[]; readonly message: string; readonly settings: readonly string[] },
): Promise<string> =>
  must(['commit-tree', '--no-gpg-sign', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', message], {
    settings,
  });
