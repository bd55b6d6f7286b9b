// The lockfile holds every platform package that a tool may want, so that `npm ci` accepts it on every machine.
import type { HouseCheck } from './tree.ts';

/** What the lockfile says of one package. */
export type Locked = {
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
export type Lockfile = { readonly packages: Readonly<Record<string, Locked>> };

/** An optional package that nothing in the lockfile stands for, and the place where npm would look for it. */
export type Missing = {
  readonly name: string;
  readonly version: string;
  readonly place: string;
  readonly parent: Locked;
};

/** The optional packages that the lockfile names as wanted and does not hold. */
export function missingOptional(lock: Lockfile): Missing[] {
  return Object.entries(lock.packages).flatMap(([place, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name, version]) => !holds(lock, place, name, version))
      .map(([name, version]) => ({ name, version, parent, place: besides(lock, place, name) })),
  );
}

/** Whether a package of that version, or of any that a range may mean, stands where the one that wants it would find it. */
const holds = (lock: Lockfile, place: string, name: string, version: string): boolean =>
  [place, folderOf(place), ''].some((folder) => {
    const found = lock.packages[inside(folder, name)]?.version;
    return found !== undefined && (found === version || !/^\d/.test(version));
  });

/** Beside the package that wants it, unless another version of it stands at the top. */
const besides = (lock: Lockfile, place: string, name: string): string =>
  inside(lock.packages[inside('', name)] === undefined ? '' : folderOf(place), name);

/** The package whose folder holds this one; nothing at the top. */
const folderOf = (place: string): string => place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')));

const inside = (folder: string, name: string): string =>
  folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;

/** Fails when `npm ci` would refuse the lockfile for want of a platform package. */
export const lockfile: HouseCheck = (tree) => {
  if (!tree.paths.includes('package-lock.json')) return [];
  const missing = missingOptional(JSON.parse(tree.text('package-lock.json')) as Lockfile);
  if (missing.length === 0) return [];
  return [
    `package-lock.json lacks ${missing.length} platform packages such as ${missing[0]?.name}; run "npm run lock".`,
  ];
};
