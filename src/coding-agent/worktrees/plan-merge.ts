// Plans a merge in the object store of git: nothing of the checkout is touched until it is known that everything can be applied.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import { listChanges, type FileChange } from './changes.ts';
import { worktreeError } from './errors.ts';
import type { WorktreeContent } from './inspect.ts';
import { authorSettings, readBranch, readHead, type Checkout } from './repository.ts';
import { commitTree, snapshotFiles } from './snapshot.ts';

/** How the changes of a worktree reach the checkout: as commits on its branch, or as changes of its files. */
export type MergeMode = 'commits' | 'changes';

/** A file that both sides changed in different ways. */
export type MergeConflict = {
  readonly path: string;
  /** What git says about it. */
  readonly reason: string;
  /** The file with conflict markers, if it is text: max 40 lines of it. */
  readonly excerpt?: string;
};

/** What a merge will do. */
export type MergePlan = {
  readonly mode: MergeMode;
  /** The branch of the checkout; absent if its head is detached. */
  readonly into?: string;
  /** The commit of the checkout. */
  readonly head: string;
  /** The commit that the branch will have. */
  readonly target?: string;
  /** The last commit of the worktree, with its uncommitted changes. */
  readonly theirs: string;
  /** The trees between which the files of the checkout change. */
  readonly from: string;
  readonly to: string;
  /** How the files of the checkout change. */
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly MergeConflict[];
  /** Files with uncommitted changes of the user, or that git does not know, which the merge would replace. */
  readonly blocked: readonly string[];
};

/** Options of a plan. */
export type PlanMergeOptions = {
  /** By default commits if there are any, and changes otherwise. */
  readonly as?: MergeMode;
  readonly message?: string;
};

/** Plans the merge of a worktree into a checkout. */
export async function planMerge(
  folder: string,
  checkout: Checkout,
  content: WorktreeContent,
  { as, message }: PlanMergeOptions,
): Promise<MergePlan> {
  const { record, nested } = content;
  const mode = as ?? (content.commits.length > 0 && !record.hasTaken ? 'commits' : 'changes');
  if (nested.length > 0)
    throw worktreeError(
      'nested',
      `Nothing was merged: a repository of its own cannot be merged (${nested.map(escapeInvisibleLine).join(', ')}).`,
    );
  const head = await readHead(checkout);
  const into = await readBranch(checkout.git);
  if (mode === 'commits') await assertCommitsFit(checkout, content, into);
  const settings = await authorSettings(checkout.git);
  const text = message ?? `Changes of the worktree ${record.name}`;
  const current = await snapshotFiles(checkout.git, { folder, start: head });
  // The user's uncommitted changes count as theirs only if the worktree began with them.
  const ours =
    record.hasTaken && mode === 'changes' ? current : await checkout.git.must(['rev-parse', `${head}^{tree}`]);
  const commit = (tree: string, parents: readonly string[], words: string): Promise<string> =>
    commitTree(checkout.git, tree, { parents, message: words, settings });
  const theirs = content.hasUncommitted ? await commit(content.tree, [content.tip], text) : content.tip;
  const merged =
    mode === 'commits'
      ? await mergeTrees(checkout, head, theirs)
      : await mergeTrees(
          checkout,
          await commit(ours, [record.base], 'ours'),
          await commit(content.tree, [record.base], 'theirs'),
        );
  const changes = await listChanges(checkout.git, ours, merged.tree);
  const dirty = new Set((await listChanges(checkout.git, head, current)).map((each) => each.path));
  const started = record.hasTaken ? await listChanges(checkout.git, record.base, current) : [];
  const isUnchanged = (file: string): boolean => record.hasTaken && !started.some((each) => each.path === file);
  const target =
    mode !== 'commits' || merged.conflicts.length > 0
      ? undefined
      : (await isAncestor(checkout, head, theirs))
        ? theirs
        : (await isAncestor(checkout, theirs, head))
          ? head
          : await commit(merged.tree, [head, theirs], message ?? `Merge the worktree ${record.name}`);
  return {
    mode,
    ...(into === undefined ? {} : { into }),
    head,
    ...(target === undefined ? {} : { target }),
    theirs,
    from: ours,
    to: merged.tree,
    changes,
    conflicts: merged.conflicts,
    blocked: changes
      .map((each) => each.path)
      .filter((file) => (dirty.has(file) && !isUnchanged(file)) || isOccupied(checkout.top, changes, file)),
  };
}

async function assertCommitsFit(
  { git }: Checkout,
  { record, tip }: WorktreeContent,
  into: string | undefined,
): Promise<void> {
  const hint = 'Apply its changes without commits: --as changes.';
  if (record.hasTaken)
    throw worktreeError(
      'taken',
      'The worktree began with your uncommitted changes, so its commits cannot be merged.',
      hint,
    );
  if (into === undefined)
    throw worktreeError('detached', 'The checkout is on no branch, so no commits can be merged into it.', hint);
  const files = record.ignoredFiles.map(({ path: file }) => file);
  if (files.length > 0 && (await git.must(['ls-tree', '-r', '--name-only', '--full-tree', tip, '--', ...files])) !== '')
    throw worktreeError(
      'ignored-file',
      `A commit contains files that were linked or copied by a rule (${files.join(', ')}).`,
      hint,
    );
}

const isAncestor = async ({ git }: Checkout, first: string, second: string): Promise<boolean> =>
  (await git.run(['merge-base', '--is-ancestor', first, second])).code === 0;

/** True if a new file would replace one that git does not know, or if a folder above it is a file or a link. */
function isOccupied(top: string, changes: readonly FileChange[], file: string): boolean {
  const names = file.split('/');
  const leaves = (name: string): boolean => changes.some((each) => each.path === name && each.after === undefined);
  for (let depth = 1; depth < names.length; depth++) {
    const above = names.slice(0, depth).join('/');
    const found = lstatSync(path.join(top, above), { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (!found.isDirectory()) return !leaves(above);
  }
  const change = changes.find((each) => each.path === file);
  const found = lstatSync(path.join(top, file), { throwIfNoEntry: false });
  if (change?.before !== undefined || found === undefined) return false;
  // A folder whose files all leave is removed by the same merge.
  return !(found.isDirectory() && changes.some((each) => each.path.startsWith(`${file}/`) && each.after === undefined));
}

const maxExcerptLines = 40;

/** Merges two commits in the object store. */
async function mergeTrees(
  { git }: Checkout,
  ours: string,
  theirs: string,
): Promise<{ readonly tree: string; readonly conflicts: readonly MergeConflict[] }> {
  const { code, text } = await git.run(['merge-tree', '--write-tree', '-z', '--messages', ours, theirs]);
  if (code === 129) throw worktreeError('old-git', 'Merging needs git 2.38 or later.');
  const [tree = '', ...words] = text.split('\0');
  if ((code !== 0 && code !== 1) || !/^[0-9a-f]{40,64}$/.test(tree))
    throw worktreeError('git', `Git could not compute the merge: ${text.trim()}`);
  if (code === 0) return { tree, conflicts: [] };
  const end = words.indexOf('');
  const reasons = parseMessages(words.slice(end + 1));
  const files = [...new Set(words.slice(0, end).map((entry) => entry.slice(entry.indexOf('\t') + 1)))];
  const conflicts: MergeConflict[] = [];
  for (const file of files) {
    const shown = await git.read(['cat-file', 'blob', `${tree}:${file}`]);
    const excerpt = shown?.includes('<<<<<<<') && !shown.includes('\0') ? cutExcerpt(nameSides(shown)) : undefined;
    const reason = reasons.get(file) ?? `both sides changed ${escapeInvisibleLine(file)}`;
    conflicts.push({ path: file, reason, ...(excerpt === undefined ? {} : { excerpt }) });
  }
  return { tree, conflicts };
}

/** Parses the messages of git: a number of paths, the paths, a kind and a sentence. */
function parseMessages(words: readonly string[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (let at = 0; at < words.length && words[at] !== '';) {
    const count = Number(words[at]);
    if (!Number.isSafeInteger(count) || count < 0) break;
    const files = words.slice(at + 1, at + 1 + count);
    const [kind = '', sentence = ''] = words.slice(at + 1 + count, at + 3 + count);
    if (kind.startsWith('CONFLICT')) for (const file of files) reasons.set(file, escapeInvisibleLine(sentence.trim()));
    at += count + 3;
  }
  return reasons;
}

/** Git names the sides by their commits, of which one may be on no branch. */
const nameSides = (text: string): string =>
  text
    .replaceAll(/^<{7} [0-9a-f]{40,64}$/gm, '<<<<<<< your checkout')
    .replaceAll(/^>{7} [0-9a-f]{40,64}$/gm, '>>>>>>> the worktree');

/** Returns the lines from the first conflict on. */
function cutExcerpt(text: string): string {
  const lines = text.split('\n');
  const start = Math.max(0, lines.findIndex((line) => line.startsWith('<<<<<<<')) - 2);
  const end = lines.findLastIndex((line) => line.startsWith('>>>>>>>')) + 1;
  const shown = lines.slice(start, Math.min(end, start + maxExcerptLines)).map(escapeInvisibleLine);
  return [...shown, ...(end > start + maxExcerptLines ? ['…'] : [])].join('\n');
}
