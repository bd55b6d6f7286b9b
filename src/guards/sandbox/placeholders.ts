// Placeholders for absent git control files: neutral files that exist while commands run, so that a read-only mount can cover them.
import { lstatSync, mkdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isEmptyDirectory, lstatIfVisible, readSmallFile, withOpenFolder } from './open-folder.ts';

/** A placeholder: an empty folder, or a file with a content that changes nothing for git. */
type Placeholder = { readonly root: string; readonly location: string; readonly content?: string };

/** A `commondir` of `.` names the git directory itself, so git behaves as without the file; an empty one is an error. */
const ownCommonDir = '.\n';

/** Returns the placeholders of a working folder. Git ignores an empty `.git`; inside one, the folders are those of a new repository. */
function neededPlaceholders(root: string): readonly Placeholder[] {
  const git = path.join(root, '.git');
  const found = lstatSync(git, { throwIfNoEntry: false });
  if (found === undefined || isEmptyDirectory(git)) return [{ root, location: git }];
  return found.isDirectory() ? placeholdersOf(git, root) : [];
}

/** Returns the placeholders of a git directory. */
function placeholdersOf(git: string, root: string): readonly Placeholder[] {
  return [
    { root, location: path.join(git, 'commondir'), content: ownCommonDir },
    { root, location: path.join(git, 'config'), content: '' },
    ...(readsWorktreeConfig(git) ? [{ root, location: path.join(git, 'config.worktree'), content: '' }] : []),
    ...['hooks', 'info'].map((name) => ({ root, location: path.join(git, name) })),
  ];
}

/** Git reads `config.worktree` only if the configuration says so, which no command can change. Each mount takes time, so it is covered only then. */
function readsWorktreeConfig(git: string): boolean {
  const text = readSmallFile(path.join(git, 'config'), maxConfigBytes);
  return text === undefined || /worktreeconfig|\[\s*include/i.test(text);
}

const maxConfigBytes = 65_536;

/** How many running commands of this process use each placeholder. */
const uses = new Map<string, PlaceholderUse>();

type PlaceholderUse = {
  readonly placeholder: Placeholder;
  count: number;
  /** Returns true if another process may use it. */
  isShared: () => boolean;
};

/** Unused placeholders inside a git directory stay for a while: the next command needs them again, and creating them takes longer than the command `true`. */
const idleMs = 30_000;
let idleTimer: NodeJS.Timeout | undefined;
let hasExitListener = false;
let isExiting = false;

/** Placeholders that exist until they are released. */
export type HeldPlaceholders = {
  /** Their paths. */
  readonly locations: readonly string[];
  /** Creates those again that were removed meanwhile. */
  restore(): void;
  /** Removes those that no other command uses and that are unchanged. */
  release(): void;
};

/** Options of holdPlaceholders. */
export type PlaceholderOptions = {
  /** Git directories outside the roots. */
  readonly gitDirectories?: readonly string[] | undefined;
  /** Returns true if commands of another process may use the same placeholders. Their mounts would be lost if these were removed. */
  readonly isShared?: () => boolean;
};

/** Creates the placeholders of these roots and git directories that are absent, and holds them. */
export function holdPlaceholders(
  roots: readonly string[],
  { gitDirectories = [], isShared = () => false }: PlaceholderOptions = {},
): HeldPlaceholders {
  const needed = [...roots.flatMap(neededPlaceholders), ...gitDirectories.flatMap((git) => placeholdersOf(git, git))];
  const held = needed.filter(createPlaceholder);
  for (const placeholder of held) {
    const use = uses.get(placeholder.location) ?? { placeholder, count: 0, isShared };
    use.count += 1;
    use.isShared = isShared;
    uses.set(placeholder.location, use);
  }
  removeAtExit();
  const locations = held.map(({ location }) => location);
  return {
    locations,
    restore: () => held.forEach(createPlaceholder),
    release: () => locations.forEach(releasePlaceholder),
  };
}

/** Returns true if the path is a placeholder, created now or before. */
function createPlaceholder({ root, location, content }: Placeholder): boolean {
  if (lstatIfVisible(location) !== undefined) return isKnownPlaceholder(location);
  try {
    withOpenFolder(root, path.dirname(location), (folder) => {
      const at = path.join(folder, path.basename(location));
      if (content === undefined) mkdirSync(at);
      else writeFileSync(at, content, { flag: 'wx', mode: 0o644 });
    });
    return true;
  } catch {
    // A command in the sandbox cannot create it either, or the sweep finds it.
    return false;
  }
}

/** An empty `.git` and a neutral `commondir` are left by a process that was killed; an empty folder of any other name may belong to the user. */
const isKnownPlaceholder = (location: string): boolean =>
  (uses.has(location) || ['.git', 'commondir'].includes(path.basename(location))) && isPlaceholder(location);

/** Returns true if this path is an unchanged placeholder. */
export function isPlaceholder(location: string): boolean {
  if (isDirectory(location)) return isEmptyDirectory(location);
  const expected = path.basename(location) === 'commondir' ? ownCommonDir : '';
  return readSmallFile(location, ownCommonDir.length + 1) === expected;
}

function releasePlaceholder(location: string): void {
  const use = uses.get(location);
  if (use === undefined || --use.count > 0) return;
  // An empty `.git` is visible to the user, so it is removed at once.
  if (isExiting || path.basename(location) === '.git') removePlaceholder(use);
  if (uses.has(location)) idleTimer ??= setTimeout(removeIdlePlaceholders, idleMs).unref();
}

/** Commands that still run at exit release their placeholders after this listener. */
function removeAtExit(): void {
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => {
    isExiting = true;
    removeIdlePlaceholders();
  });
}

/** Removes every placeholder that no running command uses. */
export function removeIdlePlaceholders(): void {
  clearTimeout(idleTimer);
  idleTimer = undefined;
  for (const use of uses.values()) if (use.count === 0) removePlaceholder(use);
  if (uses.size > 0 && !isExiting) idleTimer = setTimeout(removeIdlePlaceholders, idleMs).unref();
}

/** One that another process uses stays: that process removes it, or the next one that finds it. */
function removePlaceholder({ placeholder: { root, location }, isShared }: PlaceholderUse): void {
  if (isShared()) return;
  uses.delete(location);
  if (!isPlaceholder(location)) return;
  try {
    withOpenFolder(root, path.dirname(location), (folder) => {
      const at = path.join(folder, path.basename(location));
      if (isDirectory(at)) rmdirSync(at);
      else unlinkSync(at);
    });
  } catch {
    // It changes nothing for git, so it may stay.
  }
}
