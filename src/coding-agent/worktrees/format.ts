// Formats worktrees, what they contain, and what became of a merge, as text for a terminal.
import { escapeInvisibleLine, formatColumns } from '../../core/index.ts';
import type { FileChange } from './changes.ts';
import type { WorktreeContent } from './inspect.ts';
import type { MergePlan } from './plan-merge.ts';
import type { DiscardedWorktree, MergeOutcome, WorktreeListing } from './worktrees.ts';

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const sumLines = (changes: readonly FileChange[], side: 'added' | 'removed'): number =>
  changes.reduce((sum, { lines }) => sum + (lines?.[side] ?? 0), 0);

/** Formats the size of changes: files, and lines that were added and removed. */
const formatSize = (changes: readonly FileChange[]): string =>
  `${countOf(changes.length, 'file')} +${sumLines(changes, 'added')} -${sumLines(changes, 'removed')}`;

function formatState(listing: WorktreeListing): string {
  if (listing.error !== undefined) return 'cannot be read';
  if (listing.isInUse) return 'in use';
  return listing.isMissing ? 'files are gone' : 'kept';
}

/** Formats a list of worktrees, and why some cannot be read. */
export function formatWorktrees(listings: readonly WorktreeListing[]): string {
  if (listings.length === 0) return 'There is no worktree.';
  const rows = listings.map((each) => [
    each.record.name,
    formatState(each),
    each.error === undefined ? formatSize(each.changes) : '',
    each.record.createdAt.slice(0, 16).replace('T', ' '),
    escapeInvisibleLine(each.record.purpose),
  ]);
  const errors = listings.flatMap(({ error, record }) => (error === undefined ? [] : [`${record.name}: ${error}`]));
  return [formatColumns([['worktree', 'state', 'changes', 'created', 'made for'], ...rows]).trimEnd(), ...errors].join(
    '\n',
  );
}

const marks = { added: 'A', changed: 'M', removed: 'D' } as const;

const formatChange = ({ how, path: file, lines }: FileChange): string =>
  `  ${marks[how]} ${escapeInvisibleLine(file)}  ${lines ? `+${lines.added} -${lines.removed}` : 'not text'}`;

const maxFiles = 200;

const formatChanges = (changes: readonly FileChange[]): readonly string[] => [
  ...changes.slice(0, maxFiles).map(formatChange),
  ...(changes.length > maxFiles ? [`  and ${changes.length - maxFiles} more`] : []),
];

/** Formats what a worktree contains. */
export function formatWorktree({
  record,
  commits,
  changes,
  hasUncommitted,
  problems,
  isInUse,
}: WorktreeContent): string {
  const from = record.from === undefined ? record.base.slice(0, 10) : `${record.from} (${record.base.slice(0, 10)})`;
  return [
    `${record.name}: ${formatSize(changes)}, branch ${record.branch}, from ${escapeInvisibleLine(from)}${isInUse ? ', in use' : ''}`,
    `  ${escapeInvisibleLine(record.path)}`,
    ...commits.map(({ id, subject }) => `  ${id.slice(0, 10)} ${subject}`),
    ...(hasUncommitted ? ['  with changes that are not committed'] : []),
    ...formatChanges(changes),
    ...problems.map((each) => `Warning: ${each}`),
  ].join('\n');
}

/** Formats what will reach the checkout, before the user is asked. */
export function formatMergePlan(plan: MergePlan, { record, problems }: WorktreeContent): string {
  const how =
    plan.mode === 'commits' ? `as commits on ${escapeInvisibleLine(plan.into ?? '')}` : 'as uncommitted changes';
  return [
    `${record.name} ${how}: ${formatSize(plan.changes)}`,
    ...formatChanges(plan.changes),
    ...problems.map((each) => `Warning: ${each}`),
  ].join('\n');
}

/** Formats what became of a merge. */
export function formatMergeOutcome({ status, plan, content }: MergeOutcome, command: string): string {
  const { name } = content.record;
  switch (status) {
    case 'planned':
      return formatMergePlan(plan, content);
    case 'nothing':
      return `${name} has nothing that the checkout does not have; it was removed.`;
    case 'merged':
      return `${formatMergePlan(plan, content)}\nMerged. The worktree ${name} was removed.`;
    case 'blocked':
      return [
        'Nothing was changed: these files of your checkout have changes that are not committed, or git does not know them.',
        ...plan.blocked.map((file) => `  ${escapeInvisibleLine(file)}`),
        'Commit, stash or move them, then merge again.',
      ].join('\n');
    case 'conflicts':
      return [
        `Nothing was changed: ${countOf(plan.conflicts.length, 'file')} changed on both sides.`,
        ...formatConflicts(plan),
        `To write these files with conflict markers and resolve them: ${command} merge ${name} --keep-conflicts`,
      ].join('\n');
    case 'conflicts-kept':
      return [
        `The changes are in the checkout, with conflict markers in ${countOf(plan.conflicts.length, 'file')}:`,
        ...plan.conflicts.map(({ path: file }) => `  ${escapeInvisibleLine(file)}`),
        plan.mode === 'commits'
          ? `Resolve them and commit, or undo with: git merge --abort. Then: ${command} discard ${name}`
          : `Resolve them, then: ${command} discard ${name}`,
      ].join('\n');
  }
}

const formatConflicts = ({ conflicts }: MergePlan): readonly string[] =>
  conflicts.flatMap(({ path: file, reason, excerpt }) => [
    '',
    `${escapeInvisibleLine(file)}: ${reason}`,
    ...(excerpt === undefined ? [] : excerpt.split('\n').map((line) => `  ${line}`)),
    '',
  ]);

/** Formats what was discarded, and how it can be restored. */
export const formatDiscarded = ({ record, commit }: DiscardedWorktree): string =>
  commit === undefined
    ? `${record.name} is discarded; it had no changes that could be read.`
    : `${record.name} is discarded. Until git removes its commits, this restores them: git branch <name> ${commit.slice(0, 12)}`;
