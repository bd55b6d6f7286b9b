// Follows a protected path through links, step by step, as the kernel does: each link inside a root is watched, and so is the target if it is missing.
import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { lstatIfVisible } from './open-folder.ts';

/** A link on the way to a protected path. */
export type PathLink = { readonly location: string; readonly linkTarget: string | undefined };

/** Where a path leads. */
export type FollowedPath = {
  /** The links on the way, at their real paths. */
  readonly links: readonly PathLink[];
  /** The real path at the end, whether it exists or not; undefined if the links do not end. */
  readonly location: string | undefined;
};

/** The limit of the kernel. */
const maxLinks = 40;

/** Follows a path below a folder whose path is real. */
export function followPath(root: string, at: string): FollowedPath {
  const links: PathLink[] = [];
  const names = at.slice(root.length + 1).split(path.sep);
  let folder = root;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '..') folder = path.dirname(folder);
    if (name === '' || name === '.' || name === '..') continue;
    const location = path.join(folder, name);
    const found = lstatIfVisible(location);
    // A folder that is missing, followed by the folder above it, could become a link.
    if (found === undefined)
      return { links, location: names.includes('..') ? location : path.join(location, ...names) };
    if (!found.isSymbolicLink()) {
      folder = location;
      continue;
    }
    const linkTarget = readLink(location);
    links.push({ location, linkTarget });
    if (linkTarget === undefined || links.length > maxLinks) return { links, location: undefined };
    if (path.isAbsolute(linkTarget)) folder = path.parse(linkTarget).root;
    names.unshift(...linkTarget.split(path.sep));
  }
  return { links, location: folder };
}

/** Returns the target of a link; undefined if it is none any more, because a running command may replace it at the same moment. */
export function readLink(location: string): string | undefined {
  try {
    return readlinkSync(location);
  } catch {
    return undefined;
  }
}

/** Returns the root that contains a path, other than as the root itself. */
export const findRootOf = (roots: readonly string[], at: string): string | undefined =>
  roots.find((root) => root !== at && isPathInside(root, at));
