// The changes between two trees: for each file how it changed, and by how many lines.
import { worktreeError } from './errors.ts';
import type { FolderGit } from './repository.ts';

/** One side of a changed file. */
export type FileSide = { readonly mode: string; readonly object: string };

/** A file that differs between two trees. */
export type FileChange = {
  readonly path: string;
  readonly how: 'added' | 'changed' | 'removed';
  /** The lines that were added and removed; absent for files that are not text. */
  readonly lines?: { readonly added: number; readonly removed: number };
  readonly before?: FileSide;
  readonly after?: FileSide;
};

const nothing = '000000';

/** The mode of a symbolic link. */
export const linkMode = '120000';
/** The mode of a repository inside a tree. */
export const repositoryMode = '160000';

/** Returns the changes from one tree or commit to another, by path. */
export async function listChanges({ must }: FolderGit, from: string, to: string): Promise<readonly FileChange[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
  const listed = await must([...args, '--raw', '--numstat', from, to]);
  // A name that is not UTF-8 cannot be compared with the name on disk.
  if (listed.includes('\uFFFD'))
    throw worktreeError(
      'names',
      'A changed file has a name that is not UTF-8, so nothing was done.',
      'Use git directly.',
    );
  const words = listed.split('\0');
  const changes: FileChange[] = [];
  const lines = new Map<string, NonNullable<FileChange['lines']>>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const raw = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/.exec(word);
    if (raw) {
      const [, modeBefore = '', modeAfter = '', before = '', after = ''] = raw;
      changes.push({
        path: words[++at] ?? '',
        how: modeBefore === nothing ? 'added' : modeAfter === nothing ? 'removed' : 'changed',
        ...(modeBefore === nothing ? {} : { before: { mode: modeBefore, object: before } }),
        ...(modeAfter === nothing ? {} : { after: { mode: modeAfter, object: after } }),
      });
      continue;
    }
    const [, added, removed, file = ''] = /^(\d+)\t(\d+)\t([^]*)$/.exec(word) ?? [];
    if (added !== undefined) lines.set(file, { added: Number(added), removed: Number(removed) });
  }
  return changes.map((change) => {
    const counted = lines.get(change.path);
    return counted ? { ...change, lines: counted } : change;
  });
}

/** Returns the text of the changes between two trees, as git shows it. */
export const formatDiff = ({ must }: FolderGit, from: string, to: string): Promise<string> =>
  must([
    'diff-tree',
    '-r',
    '-p',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--src-prefix=a/',
    '--dst-prefix=b/',
    from,
    to,
  ]);
