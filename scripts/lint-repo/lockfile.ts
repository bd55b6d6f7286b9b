// The lockfile holds every platform package that a tool may want, so that `npm ci` accepts it on every machine.
import type { RepoCheck } from './source-tree.ts';

/** What the lockfile says of one package. */
export type LockedPackage = {
  readonly version?: string;
  readonly dev?: boolean;
  readonly license?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** The part of package-lock.json that we read. */
export type Lockfile = { readonly packages: Readonly<Record<string, LockedPackage>> };

/** An optional package that nothing in the lockfile stands for, and the place where npm would look for it. */
export type MissingPackage = {
  readonly name: string;
  readonly version: string;
  readonly place: string;
  readonly parent: LockedPackage;
};

/** The optional packages that the lockfile names as wanted and does not hold. */
export function findMissingOptional(lock: Lockfile): MissingPackage[] {
  return Object.entries(lock.packages).flatMap(([place, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name, version]) => !isSatisfied(lock, place, name, version))
      .map(([name, version]) => ({ name, version, parent, place: getInstallPath(lock, place, name) })),
  );
}

/** Whether a package of that version, or of any that a range may mean, stands where the one that wants it would find it. */
const isSatisfied = (lock: Lockfile, place: string, name: string, version: string): boolean =>
  [place, getParentPackagePath(place), ''].some((folder) => {
    const found = lock.packages[joinPackagePath(folder, name)]?.version;
    return found !== undefined && (found === version || !/^\d/.test(version));
  });

/** Beside the package that wants it, unless another version of it stands at the top. */
const getInstallPath = (lock: Lockfile, place: string, name: string): string =>
  joinPackagePath(lock.packages[joinPackagePath('', name)] === undefined ? '' : getParentPackagePath(place), name);

/** The package whose folder holds this one; nothing at the top. */
const getParentPackagePath = (place: string): string =>
  place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')));

const joinPackagePath = (folder: string, name: string): string =>
  folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;

/** Fails when `npm ci` would refuse the lockfile for want of a platform package. */
export const checkLockfile: RepoCheck = (tree) => {
  if (!tree.paths.includes('package-lock.json')) return [];
  const missing = findMissingOptional(JSON.parse(tree.text('package-lock.json')) as Lockfile);
  if (missing.length === 0) return [];
  return [
    `package-lock.json lacks ${missing.length} platform packages such as ${missing[0]?.name}; run "npm run lock".`,
  ];
};
