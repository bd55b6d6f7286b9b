// The folders that hold skills or commands, a person's own first, and what lies in them.
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { projectDirs, tryRealPath, resolvesInside, type FileProblem } from './paths.ts';

/** Where to look for skills and user commands. */
export type ProjectLocation = {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
  /** The topmost project folder to look in; the repository's unless given, and without one the working folder. */
  readonly stopAt?: string;
};

/** A folder of skills or commands. What lies in a project was written by whoever wrote the project. */
export type ResourceDir = {
  readonly folder: string;
  readonly scope: 'personal' | 'project';
  /** The folder that nothing on this shelf may lead out of. */
  readonly inside?: string;
};

/** The shelves of this name, those that win first: in the config folder, under these dotted folders at home, then in the project, nearest first. */
export function resourceDirs(places: ProjectLocation, name: string, dots: readonly string[]): readonly ResourceDir[] {
  const { cwd, home, configDir, stopAt } = places;
  const folders = projectDirs(cwd, stopAt);
  const inside = folders.at(-1) ?? cwd;
  return [
    ...[configDir, ...dots.map((dot) => path.join(home, dot))].map((each): ResourceDir => ({
      folder: path.join(each, name),
      scope: 'personal',
    })),
    ...folders.flatMap((each) =>
      ['.fairlead', ...dots].map((dot): ResourceDir => ({
        folder: path.join(each, dot, name),
        scope: 'project',
        inside,
      })),
    ),
  ];
}

/** Why nothing of this file may be read, if so. */
export function boundaryError(
  { inside }: Pick<ResourceDir, 'inside'>,
  file: string,
): { readonly why: string } | undefined {
  if (inside === undefined || tryRealPath(file) === undefined || resolvesInside(inside, file)) return undefined;
  return { why: `leads out of ${inside}, so it was not read` };
}

/** What lies in a folder, in order; nothing where there is no such folder. */
export function readDirEntries(folder: string, problems: FileProblem[] = []): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      problems.push({ path: folder, why: `cannot be read: ${errorMessage(error)}` });
    return [];
  }
}

/** A file under a folder: its path from there, with slashes, and whether it is a link. */
export type FoundFile = { readonly name: string; readonly link: boolean };

/** The files under a folder at most this deep and this many, without hidden ones; linked folders are not entered. */
export function collectFiles(
  folder: string,
  deepest: number,
  most: number,
  problems: FileProblem[] = [],
): readonly FoundFile[] {
  const found: FoundFile[] = [];
  const visit = (at: string, depth: number): void => {
    for (const each of readDirEntries(path.join(folder, at), problems)) {
      if (found.length >= most) return;
      const name = path.posix.join(at, each.name);
      if (each.name.startsWith('.') || each.name === 'node_modules') continue;
      if (each.isDirectory() && depth < deepest) visit(name, depth + 1);
      else if (each.isFile() || each.isSymbolicLink()) found.push({ name, link: each.isSymbolicLink() });
    }
  };
  visit('', 0);
  return found;
}
