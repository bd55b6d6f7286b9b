// Completes package-lock.json: `npm ci` refuses a lockfile that lacks a platform package which a tool lists as optional, and npm leaves
// one out if the registry does not have it. The name, version and platform are known without the package; the hash is asked from the registry.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { findMissingOptional, type LockedPackage, type Lockfile } from './lint-repo/lockfile.ts';

const file = path.resolve(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as Lockfile;

const added = findMissingOptional(lock).map(({ name, version, place, parent }): [string, LockedPackage] => {
  const known = { dev: parent.dev, license: parent.license, optional: true, ...parsePlatform(name) };
  // npm writes the version first and the rest by name; undefined values are omitted.
  return [place, { version, ...Object.fromEntries(Object.entries(known).toSorted(([a], [b]) => a.localeCompare(b))) }];
});
const packages = [...Object.entries(lock.packages), ...added].toSorted(([a], [b]) => a.localeCompare(b, 'en'));
const hashes = await findHashes(packages);
const pinned = packages.map(([place, locked]): [string, LockedPackage] => {
  const integrity = hashes.get(place);
  if (integrity === undefined) return [place, locked];
  const { version, ...rest } = locked;
  return [place, { ...(version === undefined ? {} : { version }), integrity, ...rest }];
});
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(pinned) }, undefined, 2)}\n`);
console.log(
  added.length === 0 ? 'The lockfile was complete.' : `Added ${added.length} platform packages to the lockfile.`,
);
const open = pinned.filter(([place, locked]) => isUnhashed(place, locked)).length;
if (hashes.size + open > 0)
  console.log(`Added ${hashes.size} hashes; ${open} packages have none, because the registry does not have them.`);
if (hashes.size > 0) console.log('Remove the packages that have a hash now from scripts/supply-chain/unhashed.ts.');

/** Returns the hash that the registry states for each package without one; a package that the registry does not have is left out. */
async function findHashes(packages: readonly (readonly [string, LockedPackage])[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = packages.filter(([place, locked]) => isUnhashed(place, locked));
  const ask = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, { version }] = next;
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const integrity = await npmView(`${name}@${version ?? ''}`);
      if (/^sha512-[\w+/]{86}==$/.test(integrity)) found.set(place, integrity);
    }
  };
  await Promise.all([ask(), ask(), ask(), ask()]);
  return found;
}

function isUnhashed(place: string, locked: LockedPackage): boolean {
  return place.includes('node_modules/') && locked.link !== true && locked.integrity === undefined;
}

async function npmView(spec: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', spec, 'dist.integrity'], {
      shell: process.platform === 'win32',
    });
    return stdout.trim();
  } catch {
    return '';
  }
}

/** Returns the platform of a name such as `binding-linux-x64-musl`; throws for other names, which would be installed everywhere. */
function parsePlatform(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  if (name.endsWith('-wasm32-wasi')) return { cpu: ['wasm32'] };
  const found =
    /(?:^|[-/])(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(
      name,
    );
  const [, os, cpu, abi] = found ?? [];
  if (os === undefined || cpu === undefined) throw new Error(`The name ${name} does not contain a platform.`);
  return {
    os: [os],
    cpu: [cpu],
    ...(os === 'linux' && abi ? { libc: [abi.startsWith('musl') ? 'musl' : 'glibc'] } : {}),
  };
}
