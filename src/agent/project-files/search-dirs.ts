// The directories of skills, commands, rules and custom tools, the user's own first, and the files in them.
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { errorMessage } from '../../core/index.ts';
import { projectDirs, tryRealPath, resolvesInside, type FileProblem } from './paths.ts';

/** Where to look for the files of a project and of its user. */
export type ProjectLocation = {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
  /** The topmost directory of the project; by default the root of the repository, or without one the working directory. */
  readonly stopAt?: string;
};

/** A directory of such files. Those of a project are not trusted. */
export type ResourceDir = {
  readonly folder: string;
  readonly scope: 'personal' | 'project';
  /** The directory that links in it must not leave. */
  readonly boundary?: string;
};

/** The directories of this name in order of precedence: in the config directory, in these directories of the home, then in the project, nearest first. */
export function resourceDirs(
  { cwd, home, configDir, stopAt }: ProjectLocation,
  name: string,
  homeDirs: readonly string[],
  subdirs: readonly string[] = homeDirs,
): readonly ResourceDir[] {
  const folders = projectDirs(cwd, stopAt);
  const boundary = folders.at(-1) ?? cwd;
  return [
    ...[configDir, ...homeDirs.map((dir) => path.join(home, dir))].map((each): ResourceDir => ({
      folder: path.join(each, name),
      scope: 'personal',
    })),
    ...folders.flatMap((each) =>
      ['.fairlead', ...subdirs].map((dir): ResourceDir => ({
        folder: path.join(each, dir, name),
        scope: 'project',
        boundary,
      })),
    ),
  ];
}

/** The directories of skills, in order of precedence. */
export const getSkillDirs = (location: ProjectLocation): readonly ResourceDir[] =>
  resourceDirs(location, 'skills', ['.agents', '.claude']);

/** The directories of commands, in order of precedence. */
export const getCommandDirs = (location: ProjectLocation): readonly ResourceDir[] =>
  resourceDirs(location, 'commands', ['.claude']);

/** Why a file must not be read: a link leads out of the boundary. Undefined if it may be read. */
export function boundaryError(
  { boundary }: Pick<ResourceDir, 'boundary'>,
  file: string,
): { readonly why: string } | undefined {
  if (boundary === undefined || tryRealPath(file) === undefined || resolvesInside(boundary, file)) return undefined;
  return { why: `leads out of ${boundary}, so it was not read` };
}

/** The entries of a directory, sorted; empty if it does not exist. */
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

/** A file in a directory: its relative path with slashes, and whether it is a link. */
export type FoundFile = { readonly name: string; readonly link: boolean };

/** The files in a directory, up to a depth and a number, without hidden ones. Linked directories are not entered. */
export function collectFiles(
  folder: string,
  maxDepth: number,
  maxFiles: number,
  problems: FileProblem[] = [],
): readonly FoundFile[] {
  const found: FoundFile[] = [];
  const visit = (at: string, depth: number): void => {
    for (const each of readDirEntries(path.join(folder, at), problems)) {
      if (found.length >= maxFiles) return;
      const name = path.posix.join(at, each.name);
      if (each.name.startsWith('.') || each.name === 'node_modules') continue;
      if (each.isDirectory() && depth < maxDepth) visit(name, depth + 1);
      else if (each.isFile() || each.isSymbolicLink()) found.push({ name, link: each.isSymbolicLink() });
    }
  };
  visit('', 0);
  return found;
}
