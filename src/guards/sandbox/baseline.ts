// Records which protected paths were absent when commands began, and finds what was created since.
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { findConfiguredRepositories } from './git-directories.ts';
import { findGitlinks } from './git-index.ts';
import type { MovablePath } from './move-aside.ts';
import { protectedPaths } from './mounts.ts';
import {
  createPresenceCheck,
  findLinkAbove,
  foldersBetween,
  grantOwnerPermissions,
  lstatIfVisible,
} from './open-folder.ts';
import { isPlaceholder, type HeldPlaceholders } from './placeholders.ts';
import type { SandboxPaths } from './sandbox.ts';

/** A path that no mount can protect, because it does not exist, is a link, or is a placeholder. */
export type UnprotectedPath = MovablePath & {
  /** The state that the user approved while a command was running. */
  accepted?: string | undefined;
  /** True if a placeholder of ours is there. */
  readonly hasPlaceholder?: boolean;
  /** The inode of an empty `.git` of ours. It is mounted read-only for every command, so what appears inside it is from the user. */
  readonly emptyGit?: number;
};

/** What was unprotected when the first of the running commands began. */
export type Baseline = {
  readonly unprotected: readonly UnprotectedPath[];
  /** The repositories whose configuration could run programs. */
  readonly repositories: readonly string[];
  /** The indexes whose gitlinks could not be read. */
  readonly unreadableIndexes: readonly string[];
};

/** Returns what is unprotected now. */
export function createBaseline({ roots, home }: SandboxPaths, { locations }: HeldPlaceholders): Baseline {
  const isHeld = new Set(locations);
  return {
    unprotected: roots.flatMap((root) => {
      const isPresent = createPresenceCheck(root);
      return protectedPaths(root, home).flatMap((at) =>
        isPresent(at) ? unprotectedPathsAt(root, at, isHeld) : [{ root, location: at, linkTarget: undefined }],
      );
    }),
    repositories: roots.flatMap((root) => findConfiguredRepositories(root).map(({ location }) => location)),
    unreadableIndexes: roots.map(findGitlinks).flatMap((found) => (found && !found.folders ? [found.index] : [])),
  };
}

/** A path below a link is watched at its real location. Outside the root no command can create it. */
function unprotectedPathsAt(root: string, at: string, isHeld: ReadonlySet<string>): readonly UnprotectedPath[] {
  const location = findLinkAbove(root, at) === undefined ? at : realPathInside(root, at);
  if (location === undefined) return [];
  const found = lstatIfVisible(location);
  if (found && !found.isSymbolicLink() && !isHeld.has(location)) return [];
  const linkTarget = found?.isSymbolicLink() ? readLink(location) : undefined;
  const hasPlaceholder = isHeld.has(location);
  const isOurGit = hasPlaceholder && found?.isDirectory() === true && location === path.join(root, '.git');
  return [{ root, location, linkTarget, hasPlaceholder, ...(isOurGit ? { emptyGit: Number(found.ino) } : {}) }];
}

function realPathInside(root: string, at: string): string | undefined {
  try {
    const real = path.join(realpathSync(path.dirname(at)), path.basename(at));
    return isPathInside(root, real) ? real : undefined;
  } catch {
    return undefined;
  }
}

/** A folder without search permission hides what was created in it, so its owner gets all permissions back. */
export function revealFolders(paths: readonly UnprotectedPath[]): void {
  for (const root of new Set(paths.map((each) => each.root))) {
    revealFolder(root, root);
    const isPresent = createPresenceCheck(root);
    const present = paths.filter((each) => each.root === root && isPresent(each.location));
    const folders = new Set(present.flatMap(({ location }) => foldersBetween(root, location)));
    for (const folder of [...folders].toSorted((a, b) => a.length - b.length)) revealFolder(root, folder);
  }
}

function revealFolder(root: string, folder: string): void {
  const found = lstatIfVisible(folder);
  if (!found?.isDirectory() || (Number(found.mode) & 0o500) === 0o500) return;
  try {
    grantOwnerPermissions(root, folder);
  } catch {
    // It belongs to another user, so a command could not create anything in it.
  }
}

/** Returns the paths that may have been created since the baseline. */
export const findCreated = (
  { unprotected, repositories, unreadableIndexes }: Baseline,
  roots: readonly string[],
): readonly UnprotectedPath[] =>
  roots.flatMap((root) => {
    const isPresent = createPresenceCheck(root);
    const gitlinks = findGitlinks(root);
    return [
      ...unprotected.filter((each) => each.root === root && isPresent(each.location)).map(linkAboveOrPath),
      ...findConfiguredRepositories(root)
        .filter(({ location }) => !repositories.includes(location))
        // In the working folder itself, only its HEAD is moved: without it git ignores the rest, which may be files of the user.
        .map(({ location }) => ({
          root,
          location: location === root ? path.join(root, 'HEAD') : location,
          linkTarget: undefined,
        })),
      // An index that hides which folders git would enter.
      ...(gitlinks && !gitlinks.folders && !unreadableIndexes.includes(gitlinks.index)
        ? [{ root: path.dirname(gitlinks.index), location: gitlinks.index, linkTarget: undefined }]
        : []),
    ];
  });

/** A folder above the path that became a link is moved instead: what it leads to may be outside the root. */
function linkAboveOrPath(unprotected: UnprotectedPath): UnprotectedPath {
  const link = findLinkAbove(unprotected.root, unprotected.location);
  return link === undefined ? unprotected : { root: unprotected.root, location: link, linkTarget: undefined };
}

/** A running command may replace the link at the same moment. */
function readLink(location: string): string | undefined {
  try {
    return readlinkSync(location);
  } catch {
    return undefined;
  }
}

/** Returns true if something is there now that was not there before. */
export function wasCreated({ location, linkTarget, accepted, hasPlaceholder, emptyGit }: UnprotectedPath): boolean {
  const found = lstatIfVisible(location);
  if (found === undefined || (hasPlaceholder && isPlaceholder(location))) return false;
  if (emptyGit !== undefined && found.isDirectory() && Number(found.ino) === emptyGit) return false;
  if (found.isSymbolicLink() && readLink(location) === linkTarget) return false;
  return accepted === undefined || accepted !== fingerprint(location);
}

const maxFingerprintEntries = 10_000;

/** Returns a text that differs after every change of a file or folder: the kernel sets the change time, which a command cannot choose. */
export function fingerprint(location: string): string | undefined {
  try {
    const names = lstatSync(location).isDirectory() ? readdirSync(location, { recursive: true, encoding: 'utf8' }) : [];
    if (names.length > maxFingerprintEntries) return undefined;
    return ['', ...names.toSorted()]
      .map((name) => {
        const { ino, ctimeNs } = lstatSync(path.join(location, name), { bigint: true });
        return `${name}\0${ino}\0${ctimeNs}`;
      })
      .join('\0');
  } catch {
    return undefined;
  }
}
