// Which folders a sandboxed command sees: the system and the user's tools, never keys, and auto-executed files read-only.
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import { autoExecutedPaths, homeCredentialPaths, homeStartupPaths } from './auto-executed-paths.ts';
import { controlPathsOf, gitControlPaths } from './git-directories.ts';
import { createPresenceCheck, foldersBetween, isDirectory } from './open-folder.ts';
import type { ExpectedMounts } from './mount-check.ts';
import { systemSecretPaths, type CoveredPath } from './system-secrets.ts';
import type { MountedPaths, SandboxAccess, SandboxPaths } from './sandbox.ts';

/** Folders that programs need to run. No folder that grows and no sockets: /run, /var, /home, /root and others are not visible. */
export const systemFolders = (): readonly string[] =>
  (foundSystemFolders ??= systemFolderNames.filter((each) => existsSync(each)));

const systemFolderNames = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/gnu',
];
/** They do not change while the machine runs, and are needed many times for each command. */
let foundSystemFolders: readonly string[] | undefined;

/** Returns the target of a system folder that is only a link into another one, such as `/bin` to `usr/bin`: a link needs no mount. */
export function systemLinkTarget(folder: string): string | undefined {
  if (!linkTargets.has(folder)) linkTargets.set(folder, readSystemLink(folder));
  return linkTargets.get(folder);
}

const linkTargets = new Map<string, string | undefined>();

function readSystemLink(folder: string): string | undefined {
  if (!lstatSync(folder).isSymbolicLink()) return undefined;
  const real = realpathSync.native(folder);
  const isVisible = systemFolders().some((each) => !lstatSync(each).isSymbolicLink() && isPathInside(each, real));
  return isVisible ? real : undefined;
}

/** Folders in a home folder that contain tools and no keys. */
const homeToolFolders = [
  '.rustup',
  '.cargo/registry',
  '.local/lib',
  '.local/share/uv',
  '.local/share/mise',
  '.local/share/pnpm',
  '.pyenv',
  '.rbenv',
  '.asdf',
  '.volta',
  '.sdkman',
  '.nvm',
];

const maxAgeMs = 60_000;
const foundToolFolders = new WeakMap<SandboxPaths, { readonly at: number; readonly folders: readonly string[] }>();

/** Returns the folders of tools that are not part of the system: the folders on PATH, each with the installation around its `bin`. They are looked for once a minute. */
export function toolFolders(paths: SandboxPaths): readonly string[] {
  const known = foundToolFolders.get(paths);
  if (known && Date.now() - known.at < maxAgeMs) return known.folders;
  const folders = findToolFolders(paths);
  foundToolFolders.set(paths, { at: Date.now(), folders });
  return folders;
}

function findToolFolders({ home, path: search, roots }: SandboxPaths): readonly string[] {
  const isVisible = (each: string): boolean =>
    [...systemFolders(), ...roots].some((folder) => isPathInside(folder, each)) ||
    roots.some((root) => isPathInside(each, root));
  const onPath = search
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder) && existsSync(folder) && !isPathInside('/tmp', folder))
    .map((folder) => installationRoot(path.normalize(folder), home));
  const homeFolders = homeToolFolders.map((name) => path.join(home, name)).filter((each) => existsSync(each));
  const folders = [...new Set([...homeFolders, ...onPath])].filter(
    (each) => !isVisible(each) && !isPathInside(each, home) && each !== '/',
  );
  // A folder inside another one is visible with it, and each mount takes time; not if a link leads elsewhere.
  const isInside = (each: string, other: string): boolean =>
    other !== each && isPathInside(other, each) && isPathInside(realpathSync.native(other), realpathSync.native(each));
  return folders.filter((each) => !folders.some((other) => isInside(each, other)));
}

/** `x/bin` is used with `x/lib`. But a folder directly in the home folder, such as `.local` or `.cargo`, may hold keys beside its programs. */
function installationRoot(folder: string, home: string): string {
  const parent = path.dirname(folder);
  const isSafe = path.basename(folder) === 'bin' && !isPathInside(parent, home) && parent !== '/';
  return isSafe && !(path.dirname(parent) === home && path.basename(parent).startsWith('.')) ? parent : folder;
}

/** A mount point inside a root. `--bind` leaves it writable, but it can no longer be moved. */
type ProtectedMount = { readonly mountPoint: string; readonly bindOption: '--bind' | '--ro-bind' };

/** Returns the paths of a root that no command may create or change, whether they exist or not. */
export function protectedPaths(root: string, home: string): readonly string[] {
  const homePaths = isPathInside(root, home) ? homeStartupPaths.map((name) => path.join(home, name)) : [];
  let ownPaths = autoExecutedPathsOf.get(root);
  if (ownPaths === undefined) {
    ownPaths = autoExecutedPaths.map((name) => path.join(root, name));
    autoExecutedPathsOf.set(root, ownPaths);
  }
  return [...ownPaths, ...gitControlPaths(root), ...homePaths];
}

/** Joined once for each root: there are many, and each command needs them several times. */
const autoExecutedPathsOf = new Map<string, readonly string[]>();

/** Returns the paths that a command with this access may not create or change. */
export const protectedPathsFor = ({ roots, home }: SandboxPaths, access: SandboxAccess): readonly string[] => [
  ...roots.flatMap((root) => protectedPaths(root, home).filter((at) => !isApproved(at, root, access))),
  ...(access.writesGit ? [] : roots.map((root) => path.join(root, '.git'))),
  ...(access.gitDirectories ?? []).flatMap(controlPathsOf),
];

/** Returns true if a command may change this protected path. Files that configure git are never changed by a checkout. */
export const isApproved = (at: string, root: string, { unprotected = [] }: SandboxAccess): boolean =>
  unprotected.some((file) => isPathInside(at, file)) && !gitControlPaths(root).includes(at);

/** Returns the mounts of a command besides the roots: what else it may write, and what it may not change. */
export function writeAccessMounts({ roots, home }: SandboxPaths, access: SandboxAccess): readonly ProtectedMount[] {
  if (access.access === 'read') return [];
  const { writable = [], gitDirectories = [] } = access;
  return [
    ...[...writable, ...gitDirectories].map((at) => ({ mountPoint: at, bindOption: '--bind' }) as const),
    ...roots.flatMap((root) => readOnlyMounts(root, home, access, roots)),
    ...gitDirectories
      .flatMap(controlPathsOf)
      .filter((at) => existsSync(at))
      .map((at) => ({ mountPoint: at, bindOption: '--ro-bind' }) as const),
  ];
}

/** Returns what is mounted in this root. A folder that contains such a path becomes a mount too: otherwise it could be renamed and created again. */
export function readOnlyMounts(
  root: string,
  home: string,
  access: SandboxAccess = {},
  roots: readonly string[] = [root],
): readonly ProtectedMount[] {
  const present = protectedPaths(root, home).filter(createPresenceCheck(root));
  const existing = access.unprotected?.length ? present.filter((at) => !isApproved(at, root, access)) : present;
  const git = path.join(root, '.git');
  // One mount for the whole folder: a mount of a file in it would be lost when git of the user replaces the file.
  const isWhole = !access.writesGit && isDirectory(git);
  const outside = isWhole ? [...existing.filter((at) => !isPathInside(git, at)), git] : existing;
  const readOnly = new Set(outside.flatMap((protectedPath) => resolveInRoots(roots, protectedPath)));
  const parents = new Set([
    ...[...readOnly].flatMap((at) => foldersAbove(roots, at)),
    ...(isDirectory(git) ? [git] : []),
  ]);
  return [
    ...[...parents].filter((at) => !readOnly.has(at)).map((at) => ({ mountPoint: at, bindOption: '--bind' }) as const),
    ...[...readOnly].map((at) => ({ mountPoint: at, bindOption: '--ro-bind' }) as const),
  ].toSorted((a, b) => depthOf(a.mountPoint) - depthOf(b.mountPoint));
}

/** Returns the folders between a path and the writable folder that contains it. */
const foldersAbove = (folders: readonly string[], at: string): readonly string[] =>
  folders.filter((folder) => folder !== at && isPathInside(folder, at)).flatMap((folder) => foldersBetween(folder, at));

const depthOf = (at: string): number => at.split(path.sep).length;

/** A link is not mounted over. Its target counts if it is inside a root; otherwise it is not visible anyway. */
function resolveInRoots(roots: readonly string[], at: string): readonly string[] {
  if (!existsSync(at)) return [];
  const real = realpathSync.native(at);
  return !roots.includes(real) && roots.some((root) => isPathInside(root, real)) ? [real] : [];
}

/** Returns the paths of the roots that commands cannot see; real paths. */
export const findHiddenPaths = (paths: SandboxPaths): readonly string[] => hiddenPaths(paths).map(({ at }) => at);

/** Returns the paths that are hidden even inside a root: keys of the home folder, and what the caller hides. */
export function hiddenPaths({ roots, home, hidden = [] }: SandboxPaths): readonly CoveredPath[] {
  const candidates = [...homeCredentialPaths.map((name) => path.join(home, name)), ...hidden];
  return candidates
    .filter((each) => roots.some((root) => isPathInside(root, each) && root !== each) && existsSync(each))
    .map((each) => realpathSync.native(each))
    .filter((each) => roots.some((root) => isPathInside(root, each)))
    .map((at) => ({ at, file: !lstatSync(at).isDirectory() }));
}

/** The mounts inside the folders that a command can write. They are determined once for each command: a running command can change what is found. */
export type InnerMounts = {
  readonly protected: readonly ProtectedMount[];
  readonly hidden: readonly CoveredPath[];
  /** True if a command that runs already could replace one of them, so that they are checked. */
  readonly isReplaceable?: boolean;
};

/** The mounts of the first command with each access, for the commands that run at the same time. */
const groupMounts = new WeakMap<object, Map<string, InnerMounts>>();

/**
 * Returns the mounts of a command inside the folders that it can write. While other commands run, they are the same: what these created is not mounted, and what is
 * mounted they cannot move. Only the sockets, which are covered, are those of this moment.
 */
export function findInnerMounts(
  paths: SandboxPaths,
  access: SandboxAccess,
  sockets: readonly string[] = [],
): InnerMounts {
  const known = access.group && groupMounts.get(access.group);
  const key = accessKey(access);
  const inner = known?.get(key) ?? { protected: writeAccessMounts(paths, access), hidden: hiddenPaths(paths) };
  if (access.group) groupMounts.set(access.group, (known ?? new Map<string, InnerMounts>()).set(key, inner));
  const own =
    sockets.length === 0
      ? inner
      : { ...withSockets(paths, access, inner, sockets), isReplaceable: known !== undefined || !access.group };
  access.onMounts?.(listMountedPaths(own));
  return own;
}

const listMountedPaths = (inner: InnerMounts): MountedPaths => {
  const locate = (option: ProtectedMount['bindOption']): readonly string[] =>
    inner.protected.flatMap(({ mountPoint, bindOption }) => (bindOption === option ? [mountPoint] : []));
  return {
    protectedPaths: locate('--ro-bind'),
    folders: locate('--bind'),
    hidden: inner.hidden.map(({ at }) => at),
  };
};

/** Covers sockets. The folders above one become mounts: a command could rename them, and the next command would find the socket at another path. */
function withSockets(
  paths: SandboxPaths,
  access: SandboxAccess,
  inner: InnerMounts,
  sockets: readonly string[],
): InnerMounts {
  const isUnchangeable = (at: string): boolean =>
    inner.protected.some(({ mountPoint, bindOption }) => bindOption === '--ro-bind' && isPathInside(mountPoint, at));
  const isInside = (folders: readonly string[], at: string): boolean =>
    folders.some((folder) => isPathInside(folder, at));
  // A folder that the command sees may be inside a system folder that is covered, and is mounted later.
  const covered = (at: string): readonly CoveredPath[] =>
    isInside(visibleFolders(paths, access), at) ? inner.hidden : systemSecretPaths(paths.path);
  const isHidden = (at: string): boolean =>
    isInside(
      covered(at).map((each) => each.at),
      at,
    );
  const shown = sockets.filter((at) => !isHidden(at));
  const above = access.access === 'read' ? [] : shown.flatMap((at) => foldersAbove(writableFolders(paths, access), at));
  const mounts = [...inner.protected];
  for (const folder of [...new Set(above)].toSorted((a, b) => depthOf(a) - depthOf(b))) {
    // Another mount of a read-only folder would make it writable.
    if (isUnchangeable(folder) || mounts.some(({ mountPoint }) => mountPoint === folder)) continue;
    // A later mount would cover the mounts inside the folder.
    const next = mounts.findIndex(({ mountPoint }) => isPathInside(folder, mountPoint));
    mounts.splice(next === -1 ? mounts.length : next, 0, { mountPoint: folder, bindOption: '--bind' });
  }
  return { protected: mounts, hidden: [...inner.hidden, ...shown.map((at) => ({ at, file: true }))] };
}

/** Returns the folders that a command sees as they are on this machine, besides those of the system. */
export const visibleFolders = (paths: SandboxPaths, access: SandboxAccess): readonly string[] => [
  ...paths.roots,
  ...(access.readable ?? []),
  ...(access.writable ?? []),
  ...(access.gitDirectories ?? []),
];

const writableFolders = (
  { roots }: SandboxPaths,
  { access, writable = [], gitDirectories = [] }: SandboxAccess,
): readonly string[] => [...roots, ...(access === 'read' ? [] : [...writable, ...gitDirectories])];

/** Returns a text that is the same for commands that get the same mounts. */
export const accessKey = ({ access, unprotected, writable, gitDirectories, writesGit }: SandboxAccess): string =>
  JSON.stringify([access === 'read', unprotected, writable, gitDirectories, writesGit === true]);

/** Returns what the mounts of a command must be. */
export function expectedMounts(paths: SandboxPaths, access: SandboxAccess, inner: InnerMounts): ExpectedMounts {
  const folders = writableFolders(paths, access);
  const readable = (access.readable ?? []).filter((each) => folders.some((folder) => isPathInside(folder, each)));
  return {
    folders,
    mounted: [...inner.protected.map(({ mountPoint }) => mountPoint), ...readable],
    covered: inner.hidden.map(({ at }) => at).filter((at) => folders.some((folder) => isPathInside(folder, at))),
    earlier: [paths.home, '/tmp', ...systemSecretPaths(paths.path).map(({ at }) => at), ...toolFolders(paths)],
  };
}
