// Checks that the lockfile contains every optional platform package, so that `npm ci` accepts it on every machine.
import type { RepoCheck } from './source-tree.ts';

/** An entry of the lockfile. */
export type LockedPackage = {
  readonly version?: string;
  readonly dev?: boolean;
  readonly license?: string;
  readonly optional?: boolean;
  /** The hash of its tarball, which `npm ci` verifies. */
  readonly integrity?: string;
  readonly resolved?: string;
  /** Whether it is a link to a workspace of the repository. */
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** The part of package-lock.json that is read. */
export type Lockfile = { readonly packages: Readonly<Record<string, LockedPackage>> };

/** An optional package that is missing in the lockfile, and the path where npm would search it. */
export type MissingPackage = {
  readonly name: string;
  readonly version: string;
  readonly place: string;
  readonly parent: LockedPackage;
};

/** Returns the optional dependencies that the lockfile does not contain. */
export function findMissingOptional(lock: Lockfile): MissingPackage[] {
  return Object.entries(lock.packages).flatMap(([place, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name, version]) => !isSatisfied(lock, place, name, version))
      .map(([name, version]) => ({ name, version, parent, place: getInstallPath(lock, place, name) })),
  );
}

/** Whether a package of that version or range is at a path where the dependent package resolves it. */
const isSatisfied = (lock: Lockfile, place: string, name: string, version: string): boolean =>
  [place, getParentPackagePath(place), ''].some((folder) => {
    const found = lock.packages[joinPackagePath(folder, name)]?.version;
    return found !== undefined && (found === version || !/^\d/.test(version));
  });

/** Returns the top-level path, or the path beside the dependent package if another version is at the top level. */
const getInstallPath = (lock: Lockfile, place: string, name: string): string =>
  joinPackagePath(lock.packages[joinPackagePath('', name)] === undefined ? '' : getParentPackagePath(place), name);

/** Returns the package whose folder contains this one; undefined at the top level. */
const getParentPackagePath = (place: string): string =>
  place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')));

const joinPackagePath = (folder: string, name: string): string =>
  folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;

/** Reports platform packages whose absence makes `npm ci` refuse the lockfile. */
export const checkLockfile: RepoCheck = (tree) => {
  if (!tree.paths.includes('package-lock.json')) return [];
  const missing = findMissingOptional(JSON.parse(tree.text('package-lock.json')) as Lockfile);
  if (missing.length === 0) return [];
  return [
    `package-lock.json lacks ${missing.length} platform packages such as ${missing[0]?.name}; run "npm run lock".`,
  ];
};
