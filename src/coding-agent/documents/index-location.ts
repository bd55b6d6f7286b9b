// Where the indexes of folders are: one private file per folder in the data directory of the user, never in the project.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, FairleadError, isPathInside } from '../../core/index.ts';
import { deleteIndexFile, readIndexFile } from '../../retrieval/index.ts';
import type { AppDirs } from '../settings/index.ts';

type DataDirs = Pick<AppDirs, 'data'>;

const indexFolder = ({ data }: DataDirs): string => path.join(data, 'indexes');

/** The real path of a folder or file; throws if there is none. */
export function resolveDocumentRoot(given: string): string {
  try {
    return realpathSync.native(given);
  } catch (error) {
    throw new FairleadError('retrieval/no-folder', `There is no folder or file ${escapeInvisibleLine(given)}.`, {
      blame: 'user',
      hint: `Name a folder or a file that exists. ${errorMessage(error)}`,
      cause: error,
    });
  }
}

/** The index file of a real path. */
export function getIndexFile(dirs: DataDirs, root: string): string {
  const name = path
    .basename(root)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 40);
  return path.join(indexFolder(dirs), `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.db`);
}

/** The nearest folder with an index: the given one, or one that contains it; undefined if there is none. */
export function findIndexedRoot(dirs: DataDirs, given: string): string | undefined {
  if (!existsSync(indexFolder(dirs))) return undefined;
  for (let root = resolveDocumentRoot(given); ; root = path.dirname(root)) {
    if (existsSync(getIndexFile(dirs, root))) return root;
    if (root === path.dirname(root)) return undefined;
  }
}

/** The folders whose index a search in this folder uses: the nearest of `findIndexedRoot`, else those below it, without the indexes of session logs. */
export function findSearchRoots(dirs: DataDirs, given: string): readonly string[] {
  const nearest = findIndexedRoot(dirs, given);
  if (nearest !== undefined) return [nearest];
  const folder = resolveDocumentRoot(given);
  const data = existsSync(dirs.data) ? realpathSync.native(dirs.data) : dirs.data;
  return listIndexes(dirs)
    .map(({ root }) => root)
    .filter((root) => isPathInside(folder, root) && !isPathInside(data, root) && existsSync(root));
}

/** An index of the user. */
export type IndexListEntry = {
  readonly root: string;
  readonly file: string;
  readonly bytes: number;
  readonly updated: Date;
  readonly embedding?: string;
};

/** The indexes of the user, by folder. */
export function listIndexes(dirs: DataDirs): readonly IndexListEntry[] {
  if (!existsSync(indexFolder(dirs))) return [];
  return readdirSync(indexFolder(dirs))
    .filter((name) => name.endsWith('.db'))
    .flatMap((name) => {
      const file = path.join(indexFolder(dirs), name);
      const info = readIndexFile(file);
      const stats = statSync(file, { throwIfNoEntry: false });
      return info && stats ? [{ ...info, file, bytes: stats.size, updated: stats.mtime }] : [];
    })
    .toSorted((a, b) => (a.root < b.root ? -1 : 1));
}

/** Deletes the index of a folder, which need not exist any more; returns whether there was one. */
export function removeIndex(dirs: DataDirs, given: string): boolean {
  const absolute = path.resolve(given);
  const root = existsSync(absolute) ? realpathSync.native(absolute) : absolute;
  return deleteIndexFile(getIndexFile(dirs, root));
}
