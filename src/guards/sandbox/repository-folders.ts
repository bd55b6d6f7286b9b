// Finds the files outside a working folder that git reads there: the repository of a folder above it or of a linked worktree, and the user's ignore file.
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { readPointer, readPointerText } from './git-configuration.ts';
import { isDirectory } from './open-folder.ts';
import type { UserLocation } from './user-git-files.ts';

/** Returns what git needs to read a repository that is not inside the working folder; real paths that no command in the folder can write. */
export function findRepositoryFolders(root: string, home: string): readonly string[] {
  const folders = foldersUpwards(root);
  const top = folders.find((folder) => lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false }));
  if (top === undefined) return [];
  const git = path.join(top, '.git');
  const ignoreFiles = folders
    .slice(0, folders.indexOf(top) + 1)
    .flatMap((folder) => ['.gitignore', '.gitattributes'].map((name) => path.join(folder, name)));
  const userFiles = ['ignore', 'attributes'].map((name) => path.join(home, '.config/git', name));
  return [...gitFoldersAt(git), ...(top === root ? [] : [...ignoreFiles, git]), ...userFiles]
    .filter((each) => existsSync(each))
    .map((each) => realpathSync(each))
    .filter((each, at, all) => !isPathInside(root, each) && all.indexOf(each) === at);
}

/** Returns the git directory of a working folder if it is outside: that of a folder above it or of a linked worktree; real paths. */
export function findGitDirectories(root: string): readonly string[] {
  const top = foldersUpwards(root).find((folder) => lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false }));
  return top === undefined
    ? []
    : gitFoldersAt(path.join(top, '.git'))
        .map((each) => realpathSync(each))
        .filter((each) => !isPathInside(root, each));
}

/** Returns the global git configuration files of the user and the files that they include; paths that no command can write. */
export async function findUserGitFiles(location: UserLocation): Promise<readonly string[]> {
  return (await import('./user-git-files.ts')).findUserGitFiles(location);
}

const gitFoldersAt = (git: string): readonly string[] => (isDirectory(git) ? [git] : linkedGitFolders(git));

function foldersUpwards(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpwards(parent)];
}

/**
 * A `.git` file names the git directory of a linked worktree. Any folder could contain such a file, so the git directory must name this file in return
 * and be outside the working folder, where a command could not have written that answer.
 */
function linkedGitFolders(file: string): readonly string[] {
  const gitFolder = readPointer(file);
  if (gitFolder === undefined) return [];
  const answer = readPointerText(path.join(gitFolder, 'gitdir'));
  const common = readPointerText(path.join(gitFolder, 'commondir'));
  if (answer === undefined || common === undefined || !isSameFile(path.resolve(gitFolder, answer), file)) return [];
  const commonFolder = path.resolve(gitFolder, common);
  return isPathInside(commonFolder, gitFolder) && path.basename(commonFolder) === '.git' ? [commonFolder] : [];
}

const isSameFile = (a: string, b: string): boolean => existsSync(a) && realpathSync(a) === realpathSync(b);
