// Moves a file or folder of a root out of the way, also out of a folder that a command made read-only.
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { grantOwnerPermissions, isDirectory, withOpenFolder } from './open-folder.ts';

/** What is moved: a path below a root, and the target of the link that was there before. */
export type MovablePath = {
  readonly root: string;
  readonly location: string;
  readonly linkTarget: string | undefined;
};

/**
 * Moves it into the quarantine folder; or next to its path, under a name that no program loads, if there is none or it is on another file system.
 * Returns the new path; undefined if it cannot be moved.
 */
export function moveAside({ root, location, linkTarget }: MovablePath, trash: string | undefined): string | undefined {
  const base = path.basename(location);
  const name = `taken-${base.replace(/^\.+/, '')}-${randomUUID().slice(0, 8)}`;
  const parent = path.dirname(location);
  for (const folder of trash === undefined ? [parent] : [trash, parent]) {
    try {
      if (folder === trash) mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (isDirectory(location)) grantOwnerPermissions(root, location);
      withOpenFolder(root, parent, (at) => {
        renameSync(path.join(at, base), path.join(folder === trash ? trash : at, name));
        if (linkTarget !== undefined) symlinkSync(linkTarget, path.join(at, base));
      });
      return path.join(folder, name);
    } catch {
      // The next location is tried.
    }
  }
  return undefined;
}
