// Applies a planned merge to a checkout. Every file that it replaces is saved first; if a step fails or the process is killed, the files are put back.
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, systemErrorCode } from '../../core/index.ts';
import { makePrivateDir } from '../../stores/index.ts';
import { worktreeError } from './errors.ts';
import type { MergePlan } from './plan-merge.ts';
import { getSavedFolder, writeRecord, type MergeJournal, type SavedFile, type WorktreeRecord } from './records.ts';
import { removeFolder } from './remove.ts';
import { createFolderGit, type Checkout, type FolderGit } from './repository.ts';

/** Applies a plan. Throws if it could not be applied; the checkout is then as before. */
export async function applyMerge(
  folder: string,
  checkout: Checkout,
  { record, plan }: { readonly record: WorktreeRecord; readonly plan: MergePlan },
): Promise<void> {
  const saved = getSavedFolder(folder, record);
  const files = saveFiles(checkout, plan, saved);
  const merge: MergeJournal = {
    checkout: checkout.top,
    head: plan.head,
    ...(plan.target === undefined ? {} : { target: plan.target }),
    files,
  };
  const merging = writeRecord(folder, { ...record, state: 'merging', merge });
  try {
    if (plan.target === undefined) await applyChanges(checkout.git, plan, path.join(saved, 'patch'));
    else await checkout.git.must(['merge', '--ff-only', '--quiet', '--no-verify-signatures', plan.target]);
  } catch (error) {
    const left = await undoMerge(folder, merging, new AbortController().signal);
    const rest =
      left.length > 0
        ? ` These files could not be put back: ${left.map(escapeInvisibleLine).join(', ')}.`
        : ' The checkout is as it was.';
    throw worktreeError('not-applied', `The changes could not be applied. ${errorMessage(error)}${rest}`);
  }
}

/** Applies the changes of files. Git checks all of them before it writes the first one. */
async function applyChanges({ must }: FolderGit, { from, to }: MergePlan, patch: string): Promise<void> {
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  await must([
    'diff-tree',
    '-r',
    '-p',
    '--binary',
    '--full-index',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    ...prefixes,
    `--output=${patch}`,
    from,
    to,
  ]);
  await must(['apply', '--whitespace=nowarn', '-p1', patch]);
}

/** Returns what is at a path; undefined if there is nothing, also because a file is where a folder will be. */
function lookUp(at: string): Stats | undefined {
  try {
    return lstatSync(at, { throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function saveFiles({ top }: Checkout, { changes }: MergePlan, saved: string): readonly SavedFile[] {
  removeFolder(saved);
  makePrivateDir(saved);
  return changes.map(({ path: file, after }, at) => {
    const from = path.join(top, file);
    const copy = path.join(saved, String(at));
    const found = lookUp(from);
    const before = found?.isSymbolicLink() ? 'link' : found?.isFile() ? 'file' : 'none';
    if (before === 'file') copyFileSync(from, copy);
    if (before === 'link') symlinkSync(readlinkSync(from), copy);
    return { path: file, before, mode: found?.mode ?? 0, ...(after === undefined ? {} : { merged: after.object }) };
  });
}

/**
 * Ends a merge that began: returns the checkout to what it was, unless all of it was done. Only files that the merge wrote are put back.
 * Returns the paths of files that were left alone, because they were changed since.
 */
export async function undoMerge(
  folder: string,
  record: WorktreeRecord,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { merge, ...rest } = record;
  if (merge === undefined) {
    writeRecord(folder, { ...rest, state: 'ready' });
    return [];
  }
  const git = createFolderGit(merge.checkout, signal);
  const saved = getSavedFolder(folder, record);
  const head = await git.read(['rev-parse', '--verify', '--quiet', 'HEAD']);
  const isDone = merge.target !== undefined && head === merge.target && merge.target !== merge.head;
  const left: string[] = [];
  for (const [at, file] of isDone ? [] : merge.files.entries())
    if (!(await putBack(git, merge.checkout, file, path.join(saved, String(at))))) left.push(file.path);
  if (!isDone && merge.target !== undefined) await resetIndex(git, merge.files, path.join(saved, 'paths'));
  // Saved files that could not be put back are kept.
  if (left.length === 0) removeFolder(saved);
  writeRecord(folder, { ...rest, state: 'ready' });
  return left;
}

/** The index may have the merged files already, if the process was killed before the branch moved. */
async function resetIndex(git: FolderGit, files: readonly SavedFile[], list: string): Promise<void> {
  if (files.length === 0) return;
  writeFileSync(list, files.map((file) => `${file.path}\0`).join(''));
  await git.run(['reset', '--quiet', `--pathspec-from-file=${list}`, '--pathspec-file-nul', 'HEAD']);
}

async function putBack(git: FolderGit, top: string, file: SavedFile, copy: string): Promise<boolean> {
  const at = path.join(top, file.path);
  const present = readPresent(at);
  const before = file.before === 'none' ? undefined : readPresent(copy);
  if (isSame(present, before)) return true;
  // Git removes a file and writes it again; a process that was killed leaves nothing, or the first part of it.
  const merged = file.merged === undefined ? undefined : await git.read(['cat-file', 'blob', file.merged]);
  const isOfMerge =
    present === undefined || (merged !== undefined && `${merged}\n`.startsWith(present.toString('utf8')));
  if (!isOfMerge) return false;
  rmSync(at, { force: true });
  if (before === undefined) {
    removeEmptyFolders(top, path.dirname(at));
    return true;
  }
  mkdirSync(path.dirname(at), { recursive: true });
  if (file.before === 'link') symlinkSync(readlinkSync(copy), at);
  else {
    copyFileSync(copy, at);
    chmodSync(at, file.mode & 0o7777);
  }
  return true;
}

function readPresent(at: string): Buffer | undefined {
  try {
    return lstatSync(at).isSymbolicLink() ? Buffer.from(readlinkSync(at)) : readFileSync(at);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

/** Removes the folders that the merge made. */
function removeEmptyFolders(top: string, from: string): void {
  for (let folder = from; folder !== top && folder.startsWith(top); folder = path.dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
