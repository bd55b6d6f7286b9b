// The records of worktrees in the state directory: written before a worktree exists and removed after it, so that a later start finds what a killed process left.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isObject, isPathInside } from '../../core/index.ts';
import {
  createLockOwner,
  isOwnerAlive,
  makePrivateDir,
  parseLockOwner,
  readTextIfExists,
  writeTextAtomic,
} from '../../stores/index.ts';
import { worktreeError } from './errors.ts';

/** A file or folder of the checkout that git ignores, and that was linked or copied into a worktree. */
export type IgnoredFile = { readonly path: string; readonly how: 'link' | 'copy' };

/** A file of the checkout before a merge changed it. */
export type SavedFile = {
  readonly path: string;
  /** The object of the merged file; absent if the merge removes it. */
  readonly merged?: string;
  /** What was there: a file or a link, whose content is in the folder of saved files, or nothing. */
  readonly before: 'file' | 'link' | 'none';
  readonly mode: number;
};

/** A merge that began, for a later start if the process is killed. */
export type MergeJournal = {
  readonly checkout: string;
  /** The commit of the checkout before the merge. */
  readonly head: string;
  /** The commit of the checkout after it; absent if only files change. */
  readonly target?: string;
  readonly files: readonly SavedFile[];
};

/** What is known about a worktree. */
export type WorktreeRecord = {
  readonly id: string;
  readonly name: string;
  readonly state: 'creating' | 'ready' | 'merging' | 'removing';
  /** The top folder of the checkout that it was made of; a real path. */
  readonly checkout: string;
  /** The git directory that all worktrees of the repository share; a real path. */
  readonly gitDirectory: string;
  /** The top folder of its files; a real path. */
  readonly path: string;
  readonly branch: string;
  /** The commit that it began with. */
  readonly base: string;
  /** The branch of the checkout at that time; absent if its head was detached. */
  readonly from?: string;
  /** True if it began with the uncommitted changes of the checkout. */
  readonly hasTaken: boolean;
  readonly ignoredFiles: readonly IgnoredFile[];
  /** What it was made for, in a few words. */
  readonly purpose: string;
  readonly createdAt: string;
  /** The process that uses it, as text; absent if none does. */
  readonly user?: string;
  readonly merge?: MergeJournal;
};

/** The folder of worktrees and their records, in the state directory. */
export const getWorktreesFolder = (stateFolder: string): string => path.join(stateFolder, 'worktrees');

/** The names of worktrees: they are part of a path and of a branch. */
export const worktreeName: RegExp = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;

const recordFile = (folder: string, id: string): string => path.join(folder, `${id}.json`);

/** The folder with the files that a merge replaces, while it runs. */
export const getSavedFolder = (folder: string, { id }: Pick<WorktreeRecord, 'id'>): string =>
  path.join(folder, `${id}.saved`);

/** Writes a record. */
export function writeRecord(folder: string, record: WorktreeRecord): WorktreeRecord {
  makePrivateDir(folder);
  writeTextAtomic(recordFile(folder, record.id), `${JSON.stringify(record, undefined, 2)}\n`);
  return record;
}

/** Removes a record, after everything else of the worktree. */
export function removeRecord(folder: string, { id }: Pick<WorktreeRecord, 'id'>): void {
  rmSync(recordFile(folder, id), { force: true });
}

/** Returns the record with this id; undefined if there is none. Throws if it is damaged. */
export function readRecord(folder: string, id: string): WorktreeRecord | undefined {
  const text = readTextIfExists(recordFile(folder, id));
  return text === undefined ? undefined : parseRecord(folder, id, text);
}

/** Returns all records, oldest first. */
export function listRecords(folder: string): readonly WorktreeRecord[] {
  return listNames(folder)
    .flatMap((name) => (name.endsWith('.json') ? (readRecord(folder, name.slice(0, -'.json'.length)) ?? []) : []))
    .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** Returns the names in a folder; none if it does not exist. */
export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const textFields = ['name', 'state', 'checkout', 'gitDirectory', 'path', 'branch', 'base', 'purpose', 'createdAt'];

function parseRecord(folder: string, id: string, text: string): WorktreeRecord {
  const value = parseJson(text);
  const isRecord =
    isObject(value) &&
    value['id'] === id &&
    textFields.every((field) => typeof value[field] === 'string') &&
    Array.isArray(value['ignoredFiles']) &&
    // Its folder is removed: a damaged record must not name another one.
    path.dirname(String(value['path'])) === folder &&
    path.basename(String(value['path'])) === id;
  if (isRecord) return value as unknown as WorktreeRecord;
  throw worktreeError(
    'damaged',
    `The record ${recordFile(folder, id)} is damaged, so the worktree of this name was left alone.`,
    'Remove the file, the folder beside it and, with "git worktree prune", what git knows about it.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** This process, as the text of a record. */
export const describeThisProcess = (): string => JSON.stringify(createLockOwner());

/** True if the process that uses a worktree still runs, or if that cannot be known. */
export function isInUse({ user }: Pick<WorktreeRecord, 'user'>): boolean {
  const owner = user === undefined ? undefined : parseLockOwner(user);
  return owner !== undefined && isOwnerAlive(owner) !== false;
}

/** True if this process uses a worktree. */
export function isUsedHere({ user }: Pick<WorktreeRecord, 'user'>): boolean {
  return user !== undefined && parseLockOwner(user)?.pid === process.pid && isInUse({ user });
}

/** Returns the id of the worktree that contains a folder, by its real path; undefined if none does. */
export function findWorktreeId(folder: string, location: string): string | undefined {
  if (folder === location || !isPathInside(folder, location)) return undefined;
  return path.relative(folder, location).split(path.sep)[0];
}
