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

/** An optional package that nothing in the lockfile stands for. */
export type Missing = { readonly name: string; readonly version: string; readonly parent: Locked };

/** The optional packages that the lockfile names as wanted and does not hold. */
export function missingOptional(lock: Lockfile): Missing[] {
  return Object.entries(lock.packages).flatMap(([place, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !lock.packages[`${place}/node_modules/${name}`] && !lock.packages[`node_modules/${name}`])
      .map(([name, version]) => ({ name, version, parent })),
  );
}

/** Fails when `npm ci` would refuse the lockfile for want of a platform package. */
export const lockfile: HouseCheck = (tree) => {
  if (!tree.paths.includes('package-lock.json')) return [];
  const missing = missingOptional(JSON.parse(tree.text('package-lock.json')) as Lockfile);
  if (missing.length === 0) return [];
  return [
    `package-lock.json lacks ${missing.length} platform packages such as ${missing[0]?.name}; run "npm run lock".`,
  ];
};
