// Finds the files of the system that other users may not read. Root could read them inside a sandbox as well as outside, so they are covered.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

/** A path that is covered: a file by an empty one, a folder by an empty folder. */
export type CoveredPath = { readonly at: string; readonly file: boolean };

/** System files with secrets that a group of the user may be allowed to read. */
const namedSecrets = [
  'shadow',
  'shadow-',
  'gshadow',
  'gshadow-',
  'sudoers',
  'sudoers.d',
  'krb5.keytab',
  'ssl/private',
  'wireguard',
  'letsencrypt/live',
  'letsencrypt/archive',
  'ssh/ssh_host_rsa_key',
  'ssh/ssh_host_ecdsa_key',
  'ssh/ssh_host_ed25519_key',
].map((name) => `/etc/${name}`);

/** The visible folders that contain settings of services. Programs are elsewhere, so few files there are private. */
const searchedFolders = ['/etc', '/usr/local/etc', '/opt'];
const maxEntries = 50_000;
/** A folder with more private files than this is covered as a whole. */
const maxCoveredInFolder = 64;
const maxAgeMs = 60_000;
const maxSearchMs = 2000;
/** Programs that only an administrator can replace. */
const findPrograms = ['/usr/bin/find', '/bin/find'];
// Folders that others may not enter, which are not searched, and anything else but links that others may not read.
const findExpression = '-type d ! -perm -001 -print0 -prune -o ! -type d ! -type l ! -perm -004 -print0'.split(' ');

let cached: { readonly key: string; readonly at: number; readonly covered: readonly CoveredPath[] } | undefined;

/** Returns the system paths that are covered in a sandbox. Folders of the search path stay visible. */
export function systemSecretPaths(
  search: string,
  isRoot: boolean = process.getuid?.() === 0,
  folders: readonly string[] = searchedFolders,
  findProgram: string | undefined = findPrograms.find((program) => existsSync(program)),
): readonly CoveredPath[] {
  const key = [search, isRoot, findProgram, ...folders].join('\0');
  if (cached?.key === key && Date.now() - cached.at < maxAgeMs) return cached.covered;
  const named = namedSecrets.filter((at) => existsSync(at)).map((at) => ({ at, file: !lstatSync(at).isDirectory() }));
  const covered = isRoot ? findPrivatePaths(folders, programFolders(search), findProgram) : named;
  cached = { key, at: Date.now(), covered };
  return covered;
}

/** A relative folder of the search path is nowhere in the system. */
const programFolders = (search: string): readonly string[] =>
  search.split(path.delimiter).filter((folder) => path.isAbsolute(folder));

/** Other users cannot read these files. */
function findPrivatePaths(
  folders: readonly string[],
  searched: readonly string[],
  findProgram: string | undefined,
): readonly CoveredPath[] {
  const roots = folders.filter((root) => existsSync(root));
  const paths = listPrivatePaths(roots, findProgram) ?? walkPrivatePaths(roots);
  // A private folder with programs of the search path stays visible, and is searched itself.
  for (const at of paths)
    if (searched.some((each) => isPathInside(at, each)) && classify(at) === 'private folder')
      paths.push(...walkPrivatePaths([at]));
  const found = paths.flatMap((at): readonly CoveredPath[] => {
    const kind = classify(at);
    const isShown = kind === 'private folder' && searched.some((each) => isPathInside(at, each));
    return kind.startsWith('private') && !isShown ? [{ at, file: kind === 'private file' }] : [];
  });
  const covered = [...Map.groupBy(found, ({ at }) => path.dirname(at))].flatMap(([folder, inside]) =>
    inside.length > maxCoveredInFolder && !roots.includes(folder) ? [{ at: folder, file: false }] : inside,
  );
  // A mount inside a covered folder would fail, because nothing is there.
  return covered.filter(
    ({ at }) => !covered.some((other) => other.at !== at && !other.file && isPathInside(other.at, at)),
  );
}

/** Lists the private paths with `find`, which needs a quarter of the time; undefined if it is missing, fails or takes too long. */
function listPrivatePaths(roots: readonly string[], findProgram: string | undefined): string[] | undefined {
  if (findProgram === undefined || roots.length === 0) return undefined;
  const { status, stdout } = spawnSync(findProgram, ['-H', ...roots, '-mindepth', '1', ...findExpression], {
    env: {},
    encoding: 'utf8',
    timeout: maxSearchMs,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.split('\0').slice(0, -1) : undefined;
}

/** Lists the private paths breadth first, so that a large folder does not hide its neighbours. */
function walkPrivatePaths(roots: readonly string[]): string[] {
  const queue = [...roots];
  const found: string[] = [];
  let entries = 0;
  for (let next = 0; next < queue.length && entries < maxEntries; next++) {
    const folder = queue[next] ?? '';
    for (const name of listFolder(folder)) {
      entries += 1;
      const at = path.join(folder, name);
      const kind = classify(at);
      if (kind === 'folder') queue.push(at);
      else if (kind !== 'visible') found.push(at);
    }
  }
  return found;
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A link is judged at its target. */
function classify(at: string): 'visible' | 'folder' | 'private file' | 'private folder' {
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return 'visible';
  if (found.isDirectory()) return (found.mode & 0o001) === 0 ? 'private folder' : 'folder';
  return (found.mode & 0o004) === 0 ? 'private file' : 'visible';
}
