// Finds the files of the system that other users may not read. Root could read them inside a sandbox as well as outside, so they are covered.
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

let cached: { readonly key: string; readonly at: number; readonly covered: readonly CoveredPath[] } | undefined;

/** Returns the system paths that are covered in a sandbox. Folders of the search path stay visible. */
export function systemSecretPaths(
  search: string,
  isRoot: boolean = process.getuid?.() === 0,
  folders: readonly string[] = searchedFolders,
): readonly CoveredPath[] {
  const key = [search, isRoot, ...folders].join('\0');
  if (cached?.key === key && Date.now() - cached.at < maxAgeMs) return cached.covered;
  const named = namedSecrets.filter((at) => existsSync(at)).map((at) => ({ at, file: !lstatSync(at).isDirectory() }));
  const covered = isRoot ? findPrivatePaths(folders, programFolders(search)) : named;
  cached = { key, at: Date.now(), covered };
  return covered;
}

/** A relative folder of the search path is nowhere in the system. */
const programFolders = (search: string): readonly string[] =>
  search.split(path.delimiter).filter((folder) => path.isAbsolute(folder));

/** Other users cannot read these files. Folders are searched breadth first, so that a large folder does not hide its neighbours. */
function findPrivatePaths(roots: readonly string[], searched: readonly string[]): readonly CoveredPath[] {
  const queue = roots.filter((root) => existsSync(root));
  const covered: CoveredPath[] = [];
  let entries = 0;
  for (let next = 0; next < queue.length && entries < maxEntries; next++) {
    const folder = queue[next] ?? '';
    const found: CoveredPath[] = [];
    for (const name of listFolder(folder)) {
      entries += 1;
      const at = path.join(folder, name);
      const kind = classify(at);
      const hasPrograms = kind === 'private folder' && searched.some((each) => isPathInside(at, each));
      if (kind === 'folder' || hasPrograms) queue.push(at);
      else if (kind !== 'visible') found.push({ at, file: kind === 'private file' });
    }
    const isWhole = found.length > maxCoveredInFolder && !roots.includes(folder);
    covered.push(...(isWhole ? [{ at: folder, file: false }] : found));
  }
  // A mount inside a covered folder would fail, because nothing is there.
  return covered.filter(
    ({ at }) => !covered.some((other) => other.at !== at && !other.file && isPathInside(other.at, at)),
  );
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
