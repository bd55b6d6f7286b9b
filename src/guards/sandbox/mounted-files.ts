// Records what is mounted for running commands, and finds what was replaced since: the kernel removes a mount, in every sandbox, when the file below it is removed or another file takes its name.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isGitControlFile } from './git-directories.ts';
import { identityOf, readSmallFile } from './open-folder.ts';
import type { MountedPaths } from './sandbox.ts';

/** What a mount does with a path: it protects the path, hides it, or keeps a folder in its place. */
export type MountRole = 'protected' | 'hidden' | 'folder';

/** A mounted path. */
export type MountedFile = {
  readonly location: string;
  readonly role: MountRole;
  /** True if it configures git. */
  readonly isGit: boolean;
  /** The content when it was mounted, of a file that configures git. */
  readonly before?: KnownContent;
};

/** The text and the permissions of a file. */
export type KnownContent = { readonly text: string; readonly mode: number };

/** The mounts of the commands that run at the same time. */
export type MountedFiles = {
  /** Adds the mounts of a command that starts. */
  add(mounts: MountedPaths): void;
  /** Returns true if there is a mount on this path. */
  has(location: string): boolean;
  /** Returns true if something is hidden. */
  hasHidden(): boolean;
  /** Returns the folders that contain mounted paths. */
  folders(): readonly string[];
  /** Returns what was replaced or removed since it was mounted; each once. */
  takeReplaced(): readonly MountedFile[];
};

/** Creates an empty record. */
export function createMountedFiles(): MountedFiles {
  const files = new Map<string, MountedFile & { identity: string | undefined }>();
  let hasHidden = false;
  const add = (location: string, role: MountRole): void => {
    if (files.has(location)) return;
    const found = identify(location);
    // A socket that is replaced is found by the list of sockets.
    if (found === undefined || found.isSocket) return;
    hasHidden ||= role === 'hidden';
    const isGit = role === 'protected' && isGitControlFile(location);
    const before = isGit ? readControlFile(location, found) : undefined;
    files.set(location, { location, role, isGit, identity: found.identity, ...(before && { before }) });
  };
  return {
    add({ protectedPaths, folders, hidden }) {
      for (const at of protectedPaths) add(at, 'protected');
      for (const at of hidden) add(at, 'hidden');
      for (const at of folders) add(at, 'folder');
    },
    has: (location) => files.has(location),
    hasHidden: () => hasHidden,
    folders: () => [...new Set([...files.keys()].map((at) => path.dirname(at)))],
    takeReplaced() {
      const replaced: MountedFile[] = [];
      for (const file of files.values()) {
        const identity = identityOf(file.location);
        if (identity === file.identity) continue;
        file.identity = identity;
        replaced.push(file);
      }
      return replaced;
    },
  };
}

type Identified = {
  readonly identity: string;
  readonly isSocket: boolean;
  readonly isFile: boolean;
  readonly mode: number;
  readonly version: string;
};

function identify(location: string): Identified | undefined {
  try {
    const stats = lstatSync(location, { bigint: true });
    const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
    return {
      identity,
      isSocket: stats.isSocket(),
      isFile: stats.isFile(),
      mode: Number(stats.mode & 0o7777n),
      version: `${identity}:${stats.ctimeNs}:${stats.size}`,
    };
  } catch {
    return undefined;
  }
}

/** The largest file that configures git whose content is kept. */
const maxControlBytes = 262_144;
const maxKnown = 64;
/** The contents that were read, by the version of their file: the same files are mounted for each command. */
const known = new Map<string, KnownContent>();

function readControlFile(location: string, { isFile, mode, version }: Identified): KnownContent | undefined {
  if (!isFile) return undefined;
  const key = `${location}\0${version}`;
  const found = known.get(key);
  if (found) return found;
  const text = readSmallFile(location, maxControlBytes);
  if (text === undefined) return undefined;
  if (known.size >= maxKnown) known.clear();
  known.set(key, { text, mode });
  return { text, mode };
}
