// Completes package-lock.json: `npm ci` refuses a lockfile that lacks a platform package which a tool lists as optional, and npm leaves
// one out if the registry does not have it. The name, version and platform are known without the package.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findMissingOptional, type LockedPackage, type Lockfile } from './lint-repo/lockfile.ts';

const file = path.resolve(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as Lockfile;

const added = findMissingOptional(lock).map(({ name, version, place, parent }): [string, LockedPackage] => {
  const known = { dev: parent.dev, license: parent.license, optional: true, ...parsePlatform(name) };
  // npm writes the version first and the rest by name; undefined values are omitted.
  return [place, { version, ...Object.fromEntries(Object.entries(known).toSorted(([a], [b]) => a.localeCompare(b))) }];
});
const packages = [...Object.entries(lock.packages), ...added].toSorted(([a], [b]) => a.localeCompare(b, 'en'));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, undefined, 2)}\n`);
console.log(
  added.length === 0 ? 'The lockfile was complete.' : `Added ${added.length} platform packages to the lockfile.`,
);

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
