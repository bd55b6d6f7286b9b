// Finds git directories in a working folder, and the files in them by which git runs programs or reads another configuration.
import { existsSync, readdirSync, realpathSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { isHarmlessGitDirectory, readPointer, readPointerText } from './git-configuration.ts';
import { findGitlinks, readGitlinks, type Gitlinks } from './git-index.ts';
import { findLinkAbove, isDirectory, isEmptyDirectory, listNames, lstatIfVisible } from './open-folder.ts';

/** Files that configure a git directory. `commondir` and `config.worktree` refer to configuration too. */
export const gitControlNames: readonly string[] = [
  'config',
  'config.worktree',
  'commondir',
  'hooks',
  'modules',
  'info',
];
/** Files of a linked worktree that say where its repository and its configuration are. */
const worktreeControlNames = ['commondir', 'gitdir', 'config.worktree'];

/** Returns true if a path is a file or folder that configures a git directory, or a `.git`. */
export function isGitControlFile(location: string): boolean {
  const name = path.basename(location);
  if (name === '.git') return true;
  if (!gitControlNames.includes(name) && !worktreeControlNames.includes(name)) return false;
  return location.includes(`${path.sep}.git${path.sep}`) || looksLikeGitDirectory(path.dirname(location));
}

/** Returns true if git accepts this folder as a git directory, whatever its name is. */
export const looksLikeGitDirectory = (folder: string): boolean =>
  lstatIfVisible(`${folder}${path.sep}HEAD`) !== undefined &&
  (existsSync(path.join(folder, 'commondir')) ||
    (existsSync(path.join(folder, 'objects')) && existsSync(path.join(folder, 'refs'))));

/** The most folders directly in a working folder that are checked for repositories before and after each command. */
export const maxCheckedFolders = 10_000;

/** What is directly in a working folder. */
type TopEntries = { readonly folders: readonly string[]; readonly sockets: readonly string[] };

function listTop(root: string): TopEntries {
  try {
    const entries = readdirSync(root, { withFileTypes: true });
    const pathOf = ({ name }: Dirent): string => `${root}${path.sep}${name}`;
    return {
      folders: entries.filter((entry) => entry.isDirectory() && entry.name !== '.git').map(pathOf),
      sockets: entries.filter((entry) => entry.isSocket()).map(pathOf),
    };
  } catch {
    // A folder that cannot be read contains no repository that git could use.
    return { folders: [], sockets: [] };
  }
}

/** Returns the sockets directly in a working folder. */
export const findTopSockets = (root: string): readonly string[] => (scans?.get(root)?.top ?? listTop(root)).sockets;

/** A repository whose configuration could run programs. */
export type ConfiguredRepository = {
  /** The bare git directory, or the `.git` folder, file or link. */
  readonly location: string;
  /** The files that configure it, whether they exist or not. */
  readonly controlPaths: readonly string[];
};

/**
 * Returns the repositories whose configuration could run programs: the working folder itself if it is a bare git directory, folders directly inside it, and
 * folders that the index names as repositories. Git, editors and prompts open these without being told to.
 */
export const findConfiguredRepositories = (root: string): readonly ConfiguredRepository[] => scan(root).repositories;

/** Returns the indexes that hide which folders git would enter as repositories. */
export const findUnreadableIndexes = (root: string): readonly string[] => scan(root).unreadableIndexes;

/** Returns true if there are more folders or repositories in a working folder than are checked. */
export const hasUncheckedFolders = (root: string): boolean => !scan(root).isComplete;

type RepositoryScan = {
  readonly top: TopEntries;
  readonly repositories: readonly ConfiguredRepository[];
  readonly unreadableIndexes: readonly string[];
  readonly isComplete: boolean;
};

let scans: Map<string, RepositoryScan> | undefined;

function scan(root: string): RepositoryScan {
  const found = scans?.get(root) ?? scanRepositories(root);
  scans?.set(root, found);
  return found;
}

/** Runs an operation that looks for repositories several times, and looks once: a folder may contain many. */
export function withOneScan<T>(operation: () => T): T {
  const outer = scans;
  scans = new Map();
  try {
    return operation();
  } finally {
    scans = outer;
  }
}

function scanRepositories(root: string): RepositoryScan {
  const top = listTop(root);
  const folders = top.folders.slice(0, maxCheckedFolders);
  const bare = folders.filter((folder) => looksLikeGitDirectory(folder) && !isHarmlessGitDirectory(folder));
  const { visited, unreadableIndexes, isComplete } = followGitlinks(root, folders);
  const nested = visited
    .map((folder) => `${folder}${path.sep}.git`)
    .filter((git) => isConfiguredGit(git, root) && findLinkAbove(root, git) === undefined);
  const repositories = [
    ...[...(looksLikeGitDirectory(root) ? [root] : []), ...bare].map((location) => ({
      location,
      controlPaths: gitControlNames.map((name) => path.join(location, name)),
    })),
    ...nested.map((location) => ({
      location,
      controlPaths: isDirectory(location) ? gitControlNames.map((name) => path.join(location, name)) : [location],
    })),
  ];
  return {
    top,
    repositories,
    unreadableIndexes,
    isComplete: isComplete && top.folders.length <= maxCheckedFolders,
  };
}

/** The most repositories in a working folder whose indexes are read before and after each command. */
export const maxCheckedRepositories = 1000;
const maxNestedIndexBytes = 128_000_000;

type LinkedRepositories = {
  /** The given folders, and those that indexes name as repositories. */
  readonly visited: readonly string[];
  readonly unreadableIndexes: readonly string[];
  readonly isComplete: boolean;
};

/** Follows the gitlinks at any depth: git enters the repositories of a repository too. */
function followGitlinks(root: string, folders: readonly string[]): LinkedRepositories {
  const visited = new Set(folders);
  const unreadableIndexes: string[] = [];
  const top = findGitlinks(root);
  const queue = folders.filter((folder) => existsSync(`${folder}${path.sep}.git`));
  let bytesLeft = maxNestedIndexBytes;
  const follow = (gitlinks: Gitlinks): void => {
    const linked = gitlinks.folders?.filter((folder) => folder !== root && isPathInside(root, folder)) ?? [];
    if (gitlinks.folders === undefined) unreadableIndexes.push(gitlinks.index);
    for (const folder of linked) {
      if (visited.has(folder)) continue;
      visited.add(folder);
      queue.push(folder);
    }
  };
  if (top) follow(top);
  for (const [n, folder] of queue.entries()) {
    if (n >= maxCheckedRepositories) return { visited: [...visited], unreadableIndexes, isComplete: false };
    const found = readGitlinks(folder, bytesLeft);
    bytesLeft -= found?.bytes ?? 0;
    // An index outside the working folder belongs to a `.git` file that is not harmless, and is moved away itself.
    if (found && isPathInside(root, found.index)) follow(found);
  }
  return { visited: [...visited], unreadableIndexes, isComplete: true };
}

/** Returns true if this `.git` could make git run a program: not if it is absent, empty, or as git creates it. */
function isConfiguredGit(git: string, root: string): boolean {
  const found = lstatIfVisible(git);
  if (found === undefined) return false;
  if (found.isDirectory()) return !isEmptyDirectory(git) && !isHarmlessGitDirectory(git);
  return !found.isFile() || !isHarmlessPointer(git, path.join(root, '.git'));
}

/** A `.git` file is harmless if it leads to a submodule, whose folder no command can change, or to a linked worktree of the same repository. */
function isHarmlessPointer(file: string, git: string): boolean {
  const target = readPointer(file);
  // A link on the way, or a text that names its target in another way, could lead git to another folder than this check.
  if (target === undefined || !isRealPath(target)) return false;
  if (isPathInside(path.join(git, 'modules'), target)) return true;
  if (path.dirname(target) !== path.join(git, 'worktrees')) return false;
  return (
    !existsSync(path.join(target, 'config.worktree')) && readPointerText(path.join(target, 'commondir')) === '../..'
  );
}

function isRealPath(location: string): boolean {
  try {
    return realpathSync(location) === location;
  } catch {
    return false;
  }
}

/** Returns the files that configure the git directories of a working folder, whether they exist or not. */
export function gitControlPaths(root: string): readonly string[] {
  const git = path.join(root, '.git');
  const others = findConfiguredRepositories(root).flatMap(({ controlPaths }) => controlPaths);
  if (!isDirectory(git) || isEmptyDirectory(git)) return [git, ...others];
  return [...controlPathsOf(git), ...others];
}

const maxWorktrees = 200;

/** Returns the files that configure this git directory and its linked worktrees, whether they exist or not. More worktrees than usual are protected together. */
export function controlPathsOf(git: string): readonly string[] {
  const worktrees = path.join(git, 'worktrees');
  const names = listNames(worktrees);
  return [
    ...gitControlNames.map((name) => path.join(git, name)),
    ...(names.length > maxWorktrees
      ? [worktrees]
      : names.flatMap((name) => worktreeControlNames.map((control) => path.join(worktrees, name, control)))),
  ];
}
