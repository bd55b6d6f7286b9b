// The files that an @ may mean: those git knows about, or those in the folder, by how well their path fits what was typed.
import { readdir } from 'node:fs/promises';
import path from 'node:path';

const maxListedFiles = 20_000;
const cacheMs = 5000;
let cachedListing:
  | { readonly cwd: string; readonly at: number; readonly files: Promise<readonly string[]> }
  | undefined;

/** Paths below a folder that fit what was typed, the best first. */
export async function searchFiles(
  cwd: string,
  typed: string,
  most: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!cachedListing || cachedListing.cwd !== cwd || Date.now() - cachedListing.at > cacheMs)
    cachedListing = { cwd, at: Date.now(), files: listFiles(cwd) };
  const all = await cachedListing.files;
  if (signal.aborted) return [];
  const word = typed.toLowerCase();
  const rank = (file: string): number => {
    const low = file.toLowerCase();
    if (low.startsWith(word)) return 0;
    return path.basename(low).startsWith(word) ? 1 : 2;
  };
  return all
    .filter((file) => file.toLowerCase().includes(word))
    .map((file) => ({ file, rank: rank(file) }))
    .toSorted((a, b) => a.rank - b.rank || a.file.length - b.file.length)
    .slice(0, most)
    .map(({ file }) => file);
}

async function listFiles(cwd: string): Promise<readonly string[]> {
  return (await listGitFiles(cwd)) ?? (await walkFiles(cwd));
}

/** A folder may hold a stranger's repository, and this runs unasked at a keystroke: nothing that it names may run with it. */
async function listGitFiles(cwd: string): Promise<readonly string[] | undefined> {
  const [{ gitOutput }, { localWorkspace }] = await Promise.all([
    import('../../tools/git/safe-git.ts'),
    import('../../workspace/index.ts'),
  ]);
  try {
    const text = await gitOutput(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      workspace: localWorkspace({ roots: [cwd] }),
      signal: AbortSignal.timeout(5000),
      seconds: 3,
      maxOutput: 2 ** 25,
    });
    return text?.split('\0').filter(Boolean).slice(0, maxListedFiles);
  } catch {
    return undefined;
  }
}

/** Breadth first and bounded, so that a home folder does not keep the person waiting. */
async function walkFiles(cwd: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let at = 0; at < folders.length && at < 2000 && found.length < maxListedFiles; at++) {
    const folder = folders[at] as string;
    const entries = await readdir(path.join(cwd, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
      const name = path.join(folder, entry.name);
      if (entry.isDirectory()) folders.push(name);
      else found.push(name);
    }
  }
  return found;
}
