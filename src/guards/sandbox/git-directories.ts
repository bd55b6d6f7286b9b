// Finds git directories in a working folder, and the files in them by which git runs programs or reads another configuration.
import { existsSync, lstatSync, readdirSync, readFileSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { lstatIfVisible } from './open-folder.ts';

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

/** Returns true if this is a folder, and not a link to one. */
export const isDirectory = (at: string): boolean => lstatIfVisible(at)?.isDirectory() === true;

/** Returns the names in a folder; none if it cannot be read. */
export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns true for an empty folder: git and other programs ignore one that is named `.git`. */
export const isEmptyDirectory = (at: string): boolean => {
  try {
    return isDirectory(at) && readdirSync(at).length === 0;
  } catch {
    return false;
  }
};

/** Returns true if git accepts this folder as a git directory, whatever its name is. */
export const looksLikeGitDirectory = (folder: string): boolean =>
  lstatIfVisible(path.join(folder, 'HEAD')) !== undefined &&
  (existsSync(path.join(folder, 'commondir')) ||
    (existsSync(path.join(folder, 'objects')) && existsSync(path.join(folder, 'refs'))));

/** Returns the bare git directories of a working folder: the folder itself, and folders directly inside it. */
function findBareRepositories(root: string): readonly string[] {
  const folders = listEntries(root).filter((entry) => entry.isDirectory() && entry.name !== '.git');
  return [root, ...folders.map(({ name }) => path.join(root, name))].filter(looksLikeGitDirectory);
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Returns the bare git directories whose configuration could run programs. The working folder itself always counts. */
export const findConfiguredBareRepositories = (root: string): readonly string[] =>
  findBareRepositories(root).filter((folder) => folder === root || !isHarmlessGitDirectory(folder));

/** Returns the files that configure the git directories of a working folder, whether they exist or not. */
export function gitControlPaths(root: string): readonly string[] {
  const git = path.join(root, '.git');
  const bare = findConfiguredBareRepositories(root).flatMap((folder) =>
    gitControlNames.map((name) => path.join(folder, name)),
  );
  if (!isDirectory(git) || isEmptyDirectory(git)) return [git, ...bare];
  return [...controlPathsOf(git), ...bare];
}

/** Returns the files that configure this git directory and its linked worktrees, whether they exist or not. */
export function controlPathsOf(git: string): readonly string[] {
  const worktrees = path.join(git, 'worktrees');
  return [
    ...gitControlNames.map((name) => path.join(git, name)),
    ...listNames(worktrees).flatMap((name) =>
      worktreeControlNames.map((control) => path.join(worktrees, name, control)),
    ),
  ];
}

const maxConfigBytes = 65_536;
/** Lines of a configuration as `git init` and `git clone` write it: no key of these runs a program. */
const harmlessConfigLine =
  /^\s*(\[(core|(remote|branch) "[\w./-]+")\]|(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks|logallrefupdates|url|fetch|mirror|merge|remote)\s*=\s*[^\\"]*)?\s*$/i;

/** Returns true if a git directory is as `git init` or `git clone` creates it: it names no program and no other configuration. */
export function isHarmlessGitDirectory(folder: string): boolean {
  try {
    const at = (name: string): string => path.join(folder, name);
    if (['commondir', 'config.worktree', 'modules'].some((name) => existsSync(at(name)))) return false;
    if (existsSync(at('info/attributes'))) return false;
    if (listNames(at('hooks')).some((name) => !name.endsWith('.sample'))) return false;
    const found = lstatSync(at('config'));
    if (!found.isFile() || found.size > maxConfigBytes) return false;
    return readFileSync(at('config'), 'utf8')
      .split('\n')
      .every((line) => harmlessConfigLine.test(line));
  } catch {
    return false;
  }
}
