// The worktrees of a user: created for agents and runs, listed, merged or discarded by the user, and cleaned up.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { makePrivateDir, withFileLock } from '../../stores/index.ts';
import { applyMerge, undoMerge } from './apply-merge.ts';
import { formatDiff } from './changes.ts';
import { createWorktree, type CreateWorktreeOptions, type CreatedWorktree, type WithWorktreesLock } from './create.ts';
import { worktreeError } from './errors.ts';
import { inspectWorktree, withGitDirectory, type WorktreeContent } from './inspect.ts';
import { planMerge, type MergePlan, type PlanMergeOptions } from './plan-merge.ts';
import {
  getSavedFolder,
  getWorktreesFolder,
  isInUse,
  isUsedHere,
  listRecords,
  readRecord,
  writeRecord,
  type WorktreeRecord,
} from './records.ts';
import { removeFolder, removeOldIndexes, removeWorktree } from './remove.ts';
import { authorSettings, createFolderGit, openCheckout, type Checkout } from './repository.ts';
import { commitTree } from './snapshot.ts';

/** Options of `openWorktrees`. */
export type WorktreesOptions = {
  /** The state directory of the user; worktrees and their records are in its folder `worktrees`. */
  readonly stateFolder: string;
};

/** A worktree in a list: what it contains, or why it cannot be read. */
export type WorktreeListing =
  | (WorktreeContent & { readonly error?: undefined })
  | { readonly record: WorktreeRecord; readonly isInUse: boolean; readonly error: string };

/** Options of a merge. */
export type MergeWorktreeOptions = PlanMergeOptions & {
  /** True writes files with conflict markers into the checkout. By default a merge with conflicts changes nothing. */
  readonly keepConflicts?: boolean;
  /** True shows what would be done, and does nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
};

/** What became of a merge. Only `merged` and `conflicts-kept` changed the checkout. */
export type MergeOutcome = {
  readonly status: 'merged' | 'nothing' | 'conflicts' | 'conflicts-kept' | 'blocked' | 'planned';
  readonly plan: MergePlan;
  readonly content: WorktreeContent;
};

/** What was discarded. */
export type DiscardedWorktree = {
  readonly record: WorktreeRecord;
  /** A commit with everything that was in it, until git removes it; absent if nothing was changed or if it could not be read. */
  readonly commit?: string;
};

/** What a cleanup did. */
export type WorktreeCleanup = { readonly removed: readonly WorktreeRecord[]; readonly problems: readonly string[] };

/** The worktrees of a user. No function here is a tool: only a user or a program merges. */
export type Worktrees = {
  /** Creates a worktree for this process, after a cleanup. Call `finish` at the end. */
  create(options: CreateWorktreeOptions): Promise<CreatedWorktree>;
  /** Ends the use by this process: a worktree without changes is removed, one with changes is returned and kept. */
  finish(id: string): Promise<WorktreeContent | undefined>;
  /** Returns the worktrees of the checkout that contains a folder; all without one. */
  list(cwd?: string, signal?: AbortSignal): Promise<readonly WorktreeListing[]>;
  /** Returns the worktree with a name or id. Throws if there is none. */
  find(name: string, cwd?: string): WorktreeRecord;
  inspect(name: string, options?: WorktreeQuery): Promise<WorktreeContent>;
  /** Returns all changes of a worktree as a text, as git shows it. */
  diff(name: string, options?: WorktreeQuery): Promise<string>;
  merge(name: string, options?: MergeWorktreeOptions & WorktreeQuery): Promise<MergeOutcome>;
  discard(name: string, options?: WorktreeQuery): Promise<DiscardedWorktree>;
  /** Removes what killed processes left and worktrees without changes, and undoes merges that were interrupted. */
  cleanUp(signal?: AbortSignal): Promise<WorktreeCleanup>;
};

/** Where a name of a worktree is looked up. */
export type WorktreeQuery = { readonly cwd?: string; readonly signal?: AbortSignal };

const never = (): AbortSignal => new AbortController().signal;

/** Opens the worktrees of a user. */
export function openWorktrees({ stateFolder }: WorktreesOptions): Worktrees {
  const wanted = getWorktreesFolder(stateFolder);
  const locate = (): string => (existsSync(wanted) ? realpathSync(wanted) : wanted);
  const find: Worktrees['find'] = (name, cwd) => findRecord(listRecords(locate()), name, cwd);
  const inspect = (record: WorktreeRecord, signal = never()): Promise<WorktreeContent> =>
    inspectWorktree(locate(), record, signal);
  const locked: WithWorktreesLock = (work) => {
    makePrivateDir(wanted);
    return withFileLock(path.join(locate(), 'changes'), work);
  };
  const cleanUp: Worktrees['cleanUp'] = (signal = never()) =>
    existsSync(wanted) ? cleanUpWorktrees(locate(), locked, signal) : Promise.resolve({ removed: [], problems: [] });
  return {
    find,
    cleanUp,
    async create(options) {
      // What a killed process left does not keep this one from starting.
      await cleanUp(options.signal).catch(() => {});
      return createWorktree(wanted, options, locked);
    },
    async finish(id) {
      const record = readRecord(locate(), id);
      // The user discarded or merged it meanwhile.
      if (record === undefined) return undefined;
      const content = await inspect(record);
      if (isEmpty(content)) {
        await removeWorktree(locate(), record, never(), [record.base]);
        return undefined;
      }
      const { user: _, ...unused } = record;
      return { ...content, record: writeRecord(locate(), unused), isInUse: false };
    },
    async list(cwd, signal) {
      const records = listRecords(locate()).filter((record) => cwd === undefined || isOfCheckout(record, cwd));
      const found: WorktreeListing[] = [];
      for (const record of records)
        found.push(
          await inspect(record, signal).catch((error: unknown) => ({
            record,
            isInUse: isInUse(record),
            error: errorMessage(error),
          })),
        );
      return found;
    },
    inspect: async (name, { cwd, signal } = {}) => inspect(find(name, cwd), signal),
    async diff(name, { cwd, signal = never() } = {}) {
      const { record, tree } = await inspect(find(name, cwd), signal);
      return formatDiff(withGitDirectory(createFolderGit(record.gitDirectory, signal)), record.base, tree);
    },
    merge: (name, { cwd, ...options } = {}) => locked(() => mergeWorktree(locate(), find(name, cwd), options)),
    discard: (name, { cwd, signal = never() } = {}) => locked(() => discardWorktree(locate(), find(name, cwd), signal)),
  };
}

/** True if a worktree belongs to the checkout that contains a folder. */
function isOfCheckout({ checkout }: WorktreeRecord, cwd: string): boolean {
  try {
    return isPathInside(checkout, realpathSync(cwd));
  } catch {
    return false;
  }
}

function findRecord(records: readonly WorktreeRecord[], name: string, cwd?: string): WorktreeRecord {
  const named = records.filter((each) => each.id === name || each.name === name);
  const near = cwd === undefined ? named : named.filter((each) => isOfCheckout(each, cwd));
  const [found, other] = near.length > 0 ? near : named;
  if (found === undefined)
    throw worktreeError('unknown', `There is no worktree ${name}.`, 'fairlead worktree list shows them.');
  if (other !== undefined)
    throw worktreeError(
      'ambiguous',
      `There are several worktrees ${name}: ${named.map(({ id }) => id).join(', ')}.`,
      'Name one by its id.',
    );
  return found;
}

const isEmpty = ({ commits, changes }: WorktreeContent): boolean => commits.length === 0 && changes.length === 0;

function assertFree(record: WorktreeRecord): void {
  if (isInUse(record) && !isUsedHere(record))
    throw worktreeError(
      'in-use',
      `The worktree ${record.name} is in use (${record.purpose}), so nothing was done.`,
      'Wait until its run has ended, or cancel it.',
    );
}

async function mergeWorktree(
  folder: string,
  given: WorktreeRecord,
  { keepConflicts = false, dryRun = false, signal = never(), ...options }: MergeWorktreeOptions,
): Promise<MergeOutcome> {
  assertFree(given);
  const record = given.state === 'merging' ? await recover(folder, given, signal) : given;
  const content = await inspectWorktree(folder, record, signal);
  const checkout = await openCheckout(record.checkout, signal);
  if (checkout.gitDirectory !== record.gitDirectory)
    throw worktreeError('moved', `${record.checkout} has another repository than when the worktree was made.`);
  const plan = await planMerge(folder, checkout, content, options);
  const outcome = (status: MergeOutcome['status']): MergeOutcome => ({ status, plan, content });
  if (plan.conflicts.length > 0 && !keepConflicts) return outcome('conflicts');
  if (plan.blocked.length > 0) return outcome('blocked');
  if (dryRun) return outcome('planned');
  if (plan.conflicts.length > 0) {
    await applyWithConflicts(folder, checkout, record, plan);
    return outcome('conflicts-kept');
  }
  const isNothing = plan.changes.length === 0 && (plan.target === undefined || plan.target === plan.head);
  if (!isNothing) await applyMerge(folder, checkout, { record, plan });
  await removeWorktree(folder, record, signal);
  return outcome(isNothing ? 'nothing' : 'merged');
}

/** Writes files with conflict markers. The worktree is kept: the user has to resolve the conflicts first. */
async function applyWithConflicts(
  folder: string,
  checkout: Checkout,
  record: WorktreeRecord,
  plan: MergePlan,
): Promise<void> {
  if (plan.mode === 'changes') {
    await applyMerge(folder, checkout, { record, plan });
    writeRecord(folder, { ...withoutJournal(record), state: 'ready' });
    removeFolder(getSavedFolder(folder, record));
    return;
  }
  // As `git merge` leaves it, so that the user can commit or abort it with git.
  const { text } = await checkout.git.run([
    'merge',
    '--no-ff',
    '--no-commit',
    '--no-edit',
    '--no-verify-signatures',
    plan.theirs,
  ]);
  if ((await checkout.git.read(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])) !== plan.theirs)
    throw worktreeError('git', `Git did not begin the merge, so nothing was changed: ${text.trim()}`);
}

const withoutJournal = ({ merge: _, ...record }: WorktreeRecord): WorktreeRecord => record;

async function recover(folder: string, record: WorktreeRecord, signal: AbortSignal): Promise<WorktreeRecord> {
  const left = await undoMerge(folder, record, signal);
  if (left.length > 0)
    throw worktreeError(
      'interrupted',
      `An earlier merge of ${record.name} was interrupted, and these files were changed since, so they were left alone: ${left.map(escapeInvisibleLine).join(', ')}.`,
      'Look at them, then merge again.',
    );
  return { ...withoutJournal(record), state: 'ready' };
}

async function discardWorktree(
  folder: string,
  record: WorktreeRecord,
  signal: AbortSignal,
): Promise<DiscardedWorktree> {
  assertFree(record);
  if (record.state === 'merging') await recover(folder, record, signal);
  const commit = await saveContent(folder, record, signal).catch(() => undefined);
  await removeWorktree(folder, record, signal);
  return { record, ...(commit === undefined ? {} : { commit }) };
}

/** Returns a commit with everything in a worktree; undefined if nothing was changed. */
async function saveContent(folder: string, record: WorktreeRecord, signal: AbortSignal): Promise<string | undefined> {
  const content = await inspectWorktree(folder, record, signal);
  if (isEmpty(content)) return undefined;
  if (!content.hasUncommitted) return content.tip;
  const git = withGitDirectory(createFolderGit(record.gitDirectory, signal));
  const message = `Discarded changes of the worktree ${record.name}`;
  return commitTree(git, content.tree, { parents: [content.tip], message, settings: await authorSettings(git) });
}

/** The lock is held for one worktree at a time: to read all of them can take longer than others wait for it. */
async function cleanUpWorktrees(
  folder: string,
  withLock: WithWorktreesLock,
  signal: AbortSignal,
): Promise<WorktreeCleanup> {
  const removed: WorktreeRecord[] = [];
  const problems: string[] = [];
  removeOldIndexes(folder);
  for (const record of listRecords(folder)) {
    try {
      if (await withLock(() => cleanUpWorktree(folder, record.id, signal))) removed.push(record);
    } catch (error) {
      problems.push(`${record.name}: ${errorMessage(error)}`);
    }
  }
  return { removed, problems };
}

/** Returns true if the worktree was removed. Its record is read again, because another process could have begun to use it. */
async function cleanUpWorktree(folder: string, id: string, signal: AbortSignal): Promise<boolean> {
  const record = readRecord(folder, id);
  if (record === undefined || isInUse(record)) return false;
  if (record.state === 'merging') {
    await recover(folder, record, signal);
    return false;
  }
  const isLeft = record.state === 'creating' || record.state === 'removing';
  if (!isLeft && !isEmpty(await inspectWorktree(folder, record, signal))) return false;
  await removeWorktree(folder, record, signal, record.state === 'removing' ? undefined : [record.base]);
  return true;
}
