// Checks that the lockfile pins every package by hash, that no package runs an install script, and that every licence is allowed.
import { isToolLicence } from '../supply-chain/licences.ts';
import { unhashedPackages } from '../supply-chain/unhashed.ts';
import type { LockedPackage, Lockfile } from './lockfile.ts';
import type { RepoCheck } from './source-tree.ts';

type Manifest = { readonly allowScripts?: Readonly<Record<string, boolean>> };
type Entry = { readonly name: string; readonly id: string; readonly locked: LockedPackage };

/** Reports packages without a hash, from elsewhere than a registry, with an install script that is not denied, or with another licence. */
export const checkSupplyChain: RepoCheck = (tree) => {
  if (!tree.paths.includes('package-lock.json')) return [];
  const read = (file: string): string => (tree.paths.includes(file) ? tree.text(file) : '');
  const manifest = JSON.parse(read('package.json') || '{}') as Manifest;
  const entries = listEntries(JSON.parse(tree.text('package-lock.json')) as Lockfile);
  return [
    ...entries.flatMap(findOriginProblems),
    ...findScriptProblems(entries, manifest.allowScripts ?? {}, read('.npmrc')),
    ...entries
      .filter(({ locked }) => !isToolLicence(locked.license))
      .map(
        ({ id, locked }) =>
          `${id} has the licence ${locked.license ?? '(none)'}, which scripts/supply-chain/licences.ts does not allow.`,
      ),
  ];
};

/** Returns the names on the list of packages without a hash that the lockfile does not need there any more. */
export function findStaleUnhashed(lock: Lockfile): string[] {
  const open = new Set(listEntries(lock).flatMap(({ id, locked }) => (locked.integrity === undefined ? [id] : [])));
  return [...unhashedPackages].filter((id) => !open.has(id));
}

/** The installed packages of a lockfile, without the workspaces of the repository. */
function listEntries(lock: Lockfile): Entry[] {
  return Object.entries(lock.packages).flatMap(([place, locked]) => {
    const at = place.lastIndexOf('node_modules/');
    if (at < 0 || locked.link === true) return [];
    const name = place.slice(at + 'node_modules/'.length);
    return [{ name, id: `${name}@${locked.version ?? ''}`, locked }];
  });
}

function findOriginProblems({ id, locked }: Entry): string[] {
  if (locked.resolved !== undefined) return [`${id} comes from ${locked.resolved}; packages come from the registry.`];
  if (/^sha512-[\w+/]{86}==$/.test(locked.integrity ?? '')) return [];
  if (locked.integrity !== undefined) return [`${id} is pinned by ${locked.integrity}, which is not a SHA-512.`];
  // A package that every system installs must have a hash; the list is for platform packages alone.
  const isPlatformPackage = locked.optional === true && locked.cpu !== undefined;
  return isPlatformPackage && unhashedPackages.has(id)
    ? []
    : [`${id} has no hash in package-lock.json; run "npm run lock" where the registry has it.`];
}

function findScriptProblems(entries: readonly Entry[], allowed: Record<string, boolean>, npmrc: string): string[] {
  const scripted = new Set(entries.flatMap(({ name, locked }) => (locked.hasInstallScript === true ? [name] : [])));
  const undecided = [...scripted].filter((name) => allowed[name] !== false);
  const stale = Object.keys(allowed).filter((name) => !scripted.has(name));
  return [
    ...undecided.map((name) => `${name} has an install script; deny it under "allowScripts" in package.json.`),
    ...stale.map((name) => `"allowScripts" in package.json names ${name}, which has no install script.`),
    ...(scripted.size > 0 && !/^strict-allow-scripts=true$/m.test(npmrc)
      ? ['.npmrc must say "strict-allow-scripts=true", so that an install script that is not listed stops the install.']
      : []),
  ];
}
