// Removes worktrees: their files, what git knows about them, their branch and their record, in this order, so that a later start can continue.
import { chmodSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import { isProcessRunning } from '../../stores/index.ts';
import { getSavedFolder, listNames, removeRecord, writeRecord, type WorktreeRecord } from './records.ts';
import { createFolderGit, isAdminFolderOf } from './repository.ts';
import { indexPrefix } from './snapshot.ts';

/** Removes a worktree with everything that belongs to it. If commits are given, the branch is removed only if it names one of them. */
export async function removeWorktree(
  folder: string,
  record: WorktreeRecord,
  signal: AbortSignal,
  commits?: readonly string[],
): Promise<void> {
  if (record.state !== 'creating') writeRecord(folder, { ...record, state: 'removing' });
  removeFolder(record.path);
  removeFolder(getSavedFolder(folder, record));
  removeAdminFolder(record);
  await removeBranch(record, signal, commits);
  removeRecord(folder, record);
}

/** Removes a folder. A link is removed, not followed. Folders that a command made unreadable are made readable first. */
export function removeFolder(location: string): void {
  try {
    rmSync(location, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(systemErrorCode(error) ?? '')) throw error;
    openFolders(location);
    rmSync(location, { recursive: true, force: true, maxRetries: 3 });
  }
}

function openFolders(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(path.join(folder, entry.name));
}

/** Removes the folder in which git keeps the index and the head of a worktree, locked or not. */
function removeAdminFolder({ gitDirectory, path: worktree }: WorktreeRecord): void {
  const all = path.join(gitDirectory, 'worktrees');
  for (const name of listNames(all)) {
    const admin = path.join(all, name);
    if (!lstatSync(admin, { throwIfNoEntry: false })?.isDirectory() || realpathSync(admin) !== admin) continue;
    // Git writes this file first; a process that was killed before left an empty folder, which git prunes.
    if (isAdminFolderOf(readText(path.join(admin, 'gitdir')), worktree))
      rmSync(admin, { recursive: true, force: true });
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

async function removeBranch(
  { gitDirectory, branch }: WorktreeRecord,
  signal: AbortSignal,
  commits: readonly string[] | undefined,
): Promise<void> {
  if (lstatSync(gitDirectory, { throwIfNoEntry: false }) === undefined) return;
  const git = createFolderGit(gitDirectory, signal);
  const reference = `refs/heads/${branch}`;
  const at = await git.read(['--git-dir=.', 'rev-parse', '--verify', '--quiet', reference]);
  // With the expected commit: another process could have moved it.
  if (at !== undefined && (commits?.includes(at) ?? true))
    await git.must(['--git-dir=.', 'update-ref', '-d', reference, at]);
}

/** Removes index files of processes that were killed. */
export function removeOldIndexes(folder: string): void {
  for (const name of listNames(folder)) {
    const [, pid] = new RegExp(`^${indexPrefix}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !isProcessRunning(Number(pid))) rmSync(path.join(folder, name), { force: true });
  }
}
