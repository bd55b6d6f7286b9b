// Finds the packages of a bundle: which module comes from which package, as package-lock.json pins it.
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { LockedPackage, Lockfile } from '../lint-repo/lockfile.ts';

/** A module of the bundle: its id, and the file of the bundle that contains it. */
export type BundledModule = { readonly id: string; readonly output: string };

/** A file of a package that is in the bundle. */
export type PackageModule = { readonly path: string; readonly output: string; readonly sha256: string | undefined };

/** A package whose code is in the bundle. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  readonly licence: string | undefined;
  /** Its path in the lockfile; absent for helpers that the bundler contains. */
  readonly place?: string;
  /** Its directory on this machine. */
  readonly folder?: string;
  readonly locked?: LockedPackage;
  readonly modules: readonly PackageModule[];
};

type Manifest = { readonly name: string; readonly version: string; readonly license?: string };

/** Returns the packages of the bundle by name; throws for a module that belongs neither to the repository nor to a locked package. */
export function listBundledPackages(
  root: string,
  lock: Lockfile,
  modules: readonly BundledModule[],
): readonly BundledPackage[] {
  const found = new Map<
    string,
    { readonly head: Omit<BundledPackage, 'modules'>; readonly modules: PackageModule[] }
  >();
  for (const { id, output } of modules) {
    const source = findSource(root, lock, id);
    if (source === undefined) continue;
    const key = source.head.place ?? source.head.name;
    const entry = found.get(key) ?? { head: source.head, modules: [] };
    found.set(key, entry);
    entry.modules.push({ path: source.path, output, sha256: source.sha256 });
  }
  return [...found.values()]
    .map(({ head, modules }) => ({ ...head, modules: modules.toSorted((a, b) => compare(a.path, b.path)) }))
    .toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

type ModuleSource = {
  readonly head: Omit<BundledPackage, 'modules'>;
  readonly path: string;
  readonly sha256: string | undefined;
};

/** Returns the package of a module; undefined for files of the repository. */
function findSource(root: string, lock: Lockfile, id: string): ModuleSource | undefined {
  if (id.startsWith('\0')) return findHelper(root, lock, id.slice(1));
  const file = realpathSync(id.replace(/\?.*$/, ''));
  const installed = realpathSync(path.join(root, 'node_modules'));
  const inPackages = toPosix(path.relative(installed, file));
  if (inPackages.startsWith('../') || path.isAbsolute(inPackages)) {
    const own = toPosix(path.relative(realpathSync(root), file));
    if (/^(src\/|web\/|package\.json$)/.test(own)) return undefined;
    throw new Error(`The module ${id} is neither in the repository nor in an installed package.`);
  }
  const [, place = '', rest = ''] =
    /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/(.*)$/.exec(`node_modules/${inPackages}`) ?? [];
  const head = readLockedPackage(root, lock, place);
  return { head, path: rest, sha256: createHash('sha256').update(readFileSync(file)).digest('hex') };
}

function readLockedPackage(root: string, lock: Lockfile, place: string): Omit<BundledPackage, 'modules'> {
  const folder = path.join(root, place);
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  const locked = lock.packages[place];
  if (locked?.integrity === undefined || locked.version !== version)
    throw new Error(
      `${name} ${version} in ${place} is not the package that package-lock.json pins (${locked?.version ?? 'none'}, ` +
        `${locked?.integrity === undefined ? 'without' : 'with'} a hash); run "npm ci".`,
    );
  return { name, version, licence: license ?? locked.license, place, folder, locked };
}

/** Returns the package of a helper that the bundler itself inserts, such as the functions for `using`. */
function findHelper(root: string, lock: Lockfile, id: string): ModuleSource {
  if (id.startsWith('rolldown/'))
    return { head: readLockedPackage(root, lock, 'node_modules/rolldown'), path: id, sha256: undefined };
  const [, scope, name, version, file] = /^(@[\w-]+)\+([\w-]+)@([\d.]+)\/(.*)$/.exec(id) ?? [];
  if (scope !== '@oxc-project' || name === undefined || version === undefined || file === undefined)
    throw new Error(`The bundler inserted the module ${JSON.stringify(id)}, which belongs to no known package.`);
  return { head: { name: `${scope}/${name}`, version, licence: 'MIT' }, path: file, sha256: undefined };
}

const toPosix = (file: string): string => file.replaceAll('\\', '/');
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
