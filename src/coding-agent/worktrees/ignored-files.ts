// Links or copies ignored files of a checkout into a worktree, by the rules of the user.
import { cpSync, constants, lstatSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { worktreeError } from './errors.ts';
import type { IgnoredFile } from './records.ts';
import type { Checkout } from './repository.ts';

/** Which ignored files a worktree gets: paths in the repository. */
export type IgnoredFileRules = {
  /** Links to the files of the checkout: readable, and read-only for commands. */
  readonly link?: readonly string[];
  /** Copies: changes in the worktree are not changes of the checkout. */
  readonly copy?: readonly string[];
};

/** Returns the rules that are paths of the repository and exist in the checkout. Throws for a path that leads out of it. */
export async function selectIgnoredFiles(
  { top, git }: Checkout,
  { link = [], copy = [] }: IgnoredFileRules,
): Promise<readonly IgnoredFile[]> {
  const rules = [
    ...link.map((each) => ({ path: each, how: 'link' as const })),
    ...copy.map((each) => ({ path: each, how: 'copy' as const })),
  ];
  const found: IgnoredFile[] = [];
  for (const { path: given, how } of rules) {
    const relative = assertInside(top, given);
    if (lstatSync(path.join(top, relative), { throwIfNoEntry: false }) === undefined) continue;
    assertInside(top, given, realpathSync(path.join(top, relative)));
    if ((await git.must(['ls-files', '-z', '--', relative])) !== '')
      throw worktreeError(
        'tracked',
        `${escapeInvisibleLine(given)} is in the repository, so the worktree has its own; the rule to ${how} it is wrong.`,
      );
    found.push({ path: relative, how });
  }
  return found;
}

/** Returns the relative path of a rule. Throws if it names a folder outside, or the git directory. */
function assertInside(top: string, given: string, at = path.resolve(top, given)): string {
  const relative = path.relative(top, at);
  const isInside = !path.isAbsolute(given) && !given.includes('\0') && relative !== '' && isPathInside(top, at);
  if (isInside && !relative.split(path.sep).some((name) => name.toLowerCase() === '.git'))
    return path.relative(top, path.resolve(top, given));
  throw worktreeError(
    'outside',
    `${escapeInvisibleLine(given)} leads out of the repository or into its git directory, so no worktree gets it.`,
  );
}

/** Links or copies files into a new worktree. A folder of the repository that is a link is not followed. */
export function addIgnoredFiles(top: string, worktree: string, files: readonly IgnoredFile[]): void {
  for (const { path: relative, how } of files) {
    const to = path.join(worktree, relative);
    const parent = path.dirname(to);
    if (hasLink(worktree, parent) || lstatSync(to, { throwIfNoEntry: false }) !== undefined)
      throw worktreeError(
        'occupied',
        `${escapeInvisibleLine(relative)} cannot be linked or copied into the worktree: the repository has a file or link there.`,
      );
    mkdirSync(parent, { recursive: true });
    const from = path.join(top, relative);
    if (how === 'link') symlinkSync(from, to);
    else
      cpSync(from, to, {
        recursive: true,
        verbatimSymlinks: true,
        mode: constants.COPYFILE_FICLONE,
        errorOnExist: true,
      });
  }
}

/** True if one of the folders from the worktree down to this one is a link or a file. */
function hasLink(worktree: string, folder: string): boolean {
  if (folder === worktree) return false;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return (found !== undefined && !found.isDirectory()) || hasLink(worktree, path.dirname(folder));
}
