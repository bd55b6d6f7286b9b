// Creates a worktree: a record first, then the branch and the files with git, then linked and copied files. What was made is removed again if a step fails.
import { randomBytes, createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, isPathInside } from '../../core/index.ts';
import { makePrivateDir } from '../../stores/index.ts';
import { worktreeError } from './errors.ts';
import { addIgnoredFiles, selectIgnoredFiles, type IgnoredFileRules } from './ignored-files.ts';
import { describeThisProcess, isInUse, readRecord, worktreeName, writeRecord, type WorktreeRecord } from './records.ts';
import { removeWorktree } from './remove.ts';
import {
  assertWholeCheckout,
  authorSettings,
  listUncommitted,
  openCheckout,
  readBranch,
  readHead,
  type Checkout,
} from './repository.ts';
import { commitTree, snapshotFiles } from './snapshot.ts';

/** Options of a new worktree. */
export type CreateWorktreeOptions = {
  /** A folder of the checkout. */
  readonly cwd: string;
  /** The name; by default the purpose with a number. It is part of the branch and of the path. */
  readonly name?: string;
  /** What it is made for, in a few words. */
  readonly purpose?: string;
  /** What happens to uncommitted changes of the checkout: they stay there only, or the worktree begins with them too. Default: leave. */
  readonly uncommitted?: 'leave' | 'take';
  readonly ignored?: IgnoredFileRules;
  /** True continues a worktree of this name that no process uses, if there is one, instead of an error. */
  readonly continues?: boolean;
  readonly signal?: AbortSignal;
};

/** A worktree that was created. */
export type CreatedWorktree = {
  readonly record: WorktreeRecord;
  /** The folder in the worktree that corresponds to `cwd`. */
  readonly cwd: string;
  /** The uncommitted changes of the checkout that are not in the worktree. */
  readonly left: readonly string[];
};

/** Runs a function while no other call chooses a name, continues, merges or removes a worktree. */
export type WithWorktreesLock = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a worktree in the folder of worktrees. The lock is held only while the record is chosen and written: a checkout can take minutes. */
export async function createWorktree(
  folder: string,
  options: CreateWorktreeOptions,
  withLock: WithWorktreesLock,
): Promise<CreatedWorktree> {
  const { signal = new AbortController().signal, purpose = 'work', uncommitted = 'leave', ignored = {} } = options;
  const checkout = await openCheckout(options.cwd, signal);
  const { name: wanted } = options;
  const known =
    options.continues && wanted
      ? await withLock(async () => continueIdle(folder, createId(checkout, wanted)))
      : undefined;
  if (known) return { record: known, cwd: correspondingFolder(checkout, known, options.cwd), left: [] };
  const head = await readHead(checkout);
  await assertWholeCheckout(checkout, head);
  const ignoredFiles = await selectIgnoredFiles(checkout, ignored);
  const changed = await listUncommitted(checkout);
  makePrivateDir(folder);
  const place = realpathSync(folder);
  if (isPathInside(checkout.top, place))
    throw worktreeError(
      'inside',
      `The state directory is inside the repository (${place}), so a worktree would be a part of the checkout; none was made.`,
      'Set XDG_STATE_HOME to a directory outside.',
    );
  const isTaken = uncommitted === 'take' && changed.length > 0;
  const base = isTaken ? await commitUncommitted(checkout, head, place) : head;
  const from = await readBranch(checkout.git);
  const record = await withLock(async () => {
    const name = await selectName(checkout, place, wanted, purpose);
    const id = createId(checkout, name);
    return writeRecord(place, {
      id,
      name,
      state: 'creating',
      checkout: checkout.top,
      gitDirectory: checkout.gitDirectory,
      path: path.join(place, id),
      branch: `fairlead/${name}`,
      base,
      ...(from === undefined ? {} : { from }),
      hasTaken: isTaken,
      ignoredFiles,
      purpose,
      createdAt: new Date().toISOString(),
      user: describeThisProcess(),
    });
  });
  try {
    await checkout.git.must(['worktree', 'add', '--quiet', '--no-track', '-b', record.branch, record.path, base]);
    addIgnoredFiles(checkout.top, record.path, ignoredFiles);
    return {
      record: writeRecord(place, { ...record, state: 'ready' }),
      cwd: correspondingFolder(checkout, record, options.cwd),
      left: isTaken ? [] : changed,
    };
  } catch (error) {
    // Also after an abort, whose signal would stop the removal.
    await removeWorktree(
      place,
      record,
      new AbortController().signal,
      /already exists/.test(errorMessage(error)) ? [] : [base],
    ).catch((problem: unknown) => {
      throw worktreeError(
        'leftover',
        `${errorMessage(error)} What was made could not be removed: ${errorMessage(problem)}`,
      );
    });
    throw error;
  }
}

/** Makes this process the user of a worktree that is ready and that no process uses; returns undefined if there is none. */
function continueIdle(folder: string, id: string): WorktreeRecord | undefined {
  const place = existsSync(folder) ? realpathSync(folder) : undefined;
  const record = place === undefined ? undefined : readRecord(place, id);
  if (place === undefined || record?.state !== 'ready' || isInUse(record) || !existsSync(record.path)) return undefined;
  return writeRecord(place, { ...record, user: describeThisProcess() });
}

/** A folder without committed files is not in the worktree. */
function correspondingFolder({ top }: Checkout, { path: worktree }: WorktreeRecord, cwd: string): string {
  const found = path.join(worktree, path.relative(top, realpathSync(cwd)));
  // A committed link in the place of a folder could lead out of the worktree.
  return existsSync(found) && realpathSync(found) === found ? found : worktree;
}

async function commitUncommitted(checkout: Checkout, head: string, folder: string): Promise<string> {
  if ((await checkout.git.must(['ls-files', '--unmerged'])) !== '')
    throw worktreeError(
      'unmerged',
      'The checkout has an unfinished merge, so its changes cannot be taken along.',
      'Finish or abort the merge, or start from the last commit.',
    );
  const tree = await snapshotFiles(checkout.git, { folder, start: head });
  return commitTree(checkout.git, tree, {
    parents: [head],
    message: 'Uncommitted changes of the checkout',
    settings: await authorSettings(checkout.git),
  });
}

/** Worktrees of two repositories can have the same name. */
const createId = ({ top }: Checkout, name: string): string =>
  `${name}-${createHash('sha256').update(top).digest('hex').slice(0, 6)}`;

async function selectName(
  checkout: Checkout,
  folder: string,
  wanted: string | undefined,
  purpose: string,
): Promise<string> {
  if (wanted !== undefined && !worktreeName.test(wanted))
    throw worktreeError(
      'name',
      `"${wanted}" cannot be the name of a worktree: it may have up to 48 small letters, digits and hyphens.`,
    );
  const words = purpose
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 24);
  const name = wanted ?? `${words === '' ? 'work' : words.replace(/-$/, '')}-${randomBytes(3).toString('hex')}`;
  if (readRecord(folder, createId(checkout, name)) !== undefined)
    throw worktreeError('exists', `There is a worktree ${name} already.`, 'Merge or discard it, or use another name.');
  const taken = await checkout.git.must(['for-each-ref', '--format=%(refname)', 'refs/heads/fairlead']);
  if (taken.split('\n').includes(`refs/heads/fairlead/${name}`))
    throw worktreeError(
      'branch-exists',
      `There is a branch fairlead/${name} already, so no worktree was made.`,
      'Use another name, or remove the branch.',
    );
  if (taken === 'refs/heads/fairlead')
    throw worktreeError(
      'branch-exists',
      'There is a branch "fairlead", beside which git allows no branch "fairlead/…", so no worktree was made.',
      'Rename that branch.',
    );
  return name;
}
