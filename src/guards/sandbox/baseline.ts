// Records which protected paths were absent when commands began, and finds what was created since.
import path from 'node:path';
import { findUnaccepted, type AcceptedFiles } from './accepted-files.ts';
import { findConfiguredRepositories, findUnreadableIndexes } from './git-directories.ts';
import type { MovablePath } from './move-aside.ts';
import { protectedPaths } from './mounts.ts';
import {
  createPresenceCheck,
  findLinkAbove,
  foldersBetween,
  grantOwnerPermissions,
  identityOf,
  lstatIfVisible,
} from './open-folder.ts';
import { findRootOf, followPath, readLink } from './protected-links.ts';
import { isPlaceholder, type HeldPlaceholders } from './placeholders.ts';
import type { SandboxPaths } from './sandbox.ts';

/** A path that no mount can protect, because it does not exist, is a link, or is a placeholder. */
export type UnprotectedPath = MovablePath & {
  /** The files that the user approved while a command was running. */
  accepted?: AcceptedFiles | undefined;
  /** True if a placeholder of ours is there. */
  readonly hasPlaceholder?: boolean;
  /** Identifies an empty `.git` of ours. It is mounted read-only for every command, so what appears inside it is from the user. */
  readonly emptyGit?: string;
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
  const unprotected = roots.flatMap((root) => {
    const isPresent = createPresenceCheck(root);
    return protectedPaths(root, home).flatMap((at) =>
      isPresent(at) ? unprotectedPathsAt(root, at, isHeld, roots) : [{ root, location: at, linkTarget: undefined }],
    );
  });
  return {
    unprotected: withoutDuplicates(unprotected),
    repositories: roots.flatMap((root) => findConfiguredRepositories(root).map(({ location }) => location)),
    unreadableIndexes: roots.flatMap(findUnreadableIndexes),
  };
}

/** Returns one entry for each location: protected paths may share a link. */
export const withoutDuplicates = (paths: readonly UnprotectedPath[]): readonly UnprotectedPath[] => [
  ...new Map(paths.map((each) => [each.location, each])).values(),
];

/** Links on the way to a protected path are watched, and its real location if nothing is there. Outside the roots no command can create it. */
function unprotectedPathsAt(
  root: string,
  at: string,
  isHeld: ReadonlySet<string>,
  roots: readonly string[],
): readonly UnprotectedPath[] {
  const { links, location } = followPath(root, at);
  const watched = links.flatMap((link) => {
    const linkRoot = findRootOf(roots, link.location);
    return linkRoot === undefined ? [] : [{ root: linkRoot, ...link }];
  });
  const targetRoot = location === undefined ? undefined : findRootOf(roots, location);
  if (location === undefined || targetRoot === undefined) return watched;
  const found = lstatIfVisible(location);
  const hasPlaceholder = isHeld.has(location);
  if (found && !hasPlaceholder) return watched;
  const isOurGit = hasPlaceholder && found?.isDirectory() === true && location === path.join(root, '.git');
  const identity = isOurGit ? identityOf(location) : undefined;
  const emptyGit = identity === undefined ? {} : { emptyGit: identity };
  return [...watched, { root: targetRoot, location, linkTarget: undefined, hasPlaceholder, ...emptyGit }];
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
      ...findUnreadableIndexes(root)
        .filter((index) => !unreadableIndexes.includes(index))
        .map((index) => ({ root: path.dirname(index), location: index, linkTarget: undefined })),
    ];
  });

/** A folder above the path that became a link is moved instead: what it leads to may be outside the root. */
function linkAboveOrPath(unprotected: UnprotectedPath): UnprotectedPath {
  const link = findLinkAbove(unprotected.root, unprotected.location);
  return link === undefined ? unprotected : { root: unprotected.root, location: link, linkTarget: undefined };
}

/** Returns true if something is there now that was not there before. */
export function wasCreated({ location, linkTarget, accepted, hasPlaceholder, emptyGit }: UnprotectedPath): boolean {
  const found = lstatIfVisible(location);
  if (found === undefined || (hasPlaceholder && isPlaceholder(location))) return false;
  if (emptyGit !== undefined && found.isDirectory() && identityOf(location) === emptyGit) return false;
  if (found.isSymbolicLink() && readLink(location) === linkTarget) return false;
  return accepted === undefined || findUnaccepted(location, accepted).length > 0;
}

/** Returns what is moved away for a created path: all of it, or what is beside the accepted files in it. */
export const withoutAccepted = (created: UnprotectedPath): readonly UnprotectedPath[] =>
  created.accepted === undefined
    ? [created]
    : findUnaccepted(created.location, created.accepted).map((location) =>
        location === created.location
          ? created
          : { root: created.root, location, linkTarget: undefined, accepted: created.accepted },
      );
