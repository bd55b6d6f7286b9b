// A worktree for one agent or run: opened before the agent is created, and closed after it.
import { escapeInvisibleLine } from '../../core/index.ts';
import type { Settings } from '../settings/index.ts';
import type { WorktreeContent } from './inspect.ts';
import type { WorktreeRecord } from './records.ts';
import { openWorktrees, type Worktrees } from './worktrees.ts';

/** Options of openIsolation. */
export type IsolationOptions = {
  readonly settings: Pick<Settings, 'dirs' | 'all'>;
  /** The folder of the user, in a git repository. */
  readonly cwd: string;
  /** What the worktree is for, in a few words, such as `agent reviewer`. */
  readonly purpose: string;
  /** The name; with one, a worktree of this name that no process uses is continued. */
  readonly name?: string;
  /** Whether uncommitted changes of the checkout are taken along; by default as the settings say. */
  readonly uncommitted?: 'leave' | 'take';
  readonly signal?: AbortSignal;
};

/** An open worktree of this process. */
export type Isolation = {
  /** The folder to work in: pass it as `cwd` of the agent. */
  readonly cwd: string;
  readonly record: WorktreeRecord;
  /** What the user should know at the start, such as changes that are not in it; one sentence or two. */
  readonly notice: string;
  /** Ends the use. A worktree without changes is removed; otherwise what it contains is returned, and it is kept until the user decides. */
  close(): Promise<WorktreeContent | undefined>;
};

const listSetting = ({ all }: Pick<Settings, 'all'>, key: string): readonly string[] =>
  String(all.get(key)?.value ?? '')
    .split(' ')
    .filter((each) => each !== '');

/** Opens the worktrees of a user. */
export const openUserWorktrees = ({ dirs }: Pick<Settings, 'dirs'>): Worktrees =>
  openWorktrees({ stateFolder: dirs.state });

/** Opens a worktree for one agent or run, with the rules of the user's settings. */
export async function openIsolation({
  settings,
  cwd,
  purpose,
  name,
  uncommitted = settings.all.get('worktrees.uncommitted')?.value === 'take' ? 'take' : 'leave',
  signal,
}: IsolationOptions): Promise<Isolation> {
  const worktrees = openUserWorktrees(settings);
  const created = await worktrees.create({
    cwd,
    purpose,
    uncommitted,
    ignored: { link: listSetting(settings, 'worktrees.link'), copy: listSetting(settings, 'worktrees.copy') },
    ...(name === undefined ? {} : { name, continues: true }),
    ...(signal ? { signal } : {}),
  });
  return {
    cwd: created.cwd,
    record: created.record,
    notice: formatOpened(created.record, created.left),
    close: () => worktrees.finish(created.record.id),
  };
}

const maxNamed = 5;

/** Formats where an agent works, and which uncommitted changes it does not see. */
export function formatOpened({ name, branch, base }: WorktreeRecord, left: readonly string[]): string {
  const where = `Works in the worktree ${name} (branch ${branch}, from ${base.slice(0, 10)}).`;
  if (left.length === 0) return where;
  const named = left.slice(0, maxNamed).map(escapeInvisibleLine).join(', ');
  const more = left.length > maxNamed ? ` and ${left.length - maxNamed} more` : '';
  return `${where} Uncommitted changes of your checkout are not in it: ${named}${more}.`;
}

/** Formats what an agent left in its worktree, and how the user gets it. */
export function formatKept({ record, changes }: WorktreeContent): string {
  const files = changes.length === 1 ? '1 changed file' : `${changes.length} changed files`;
  return `The worktree ${record.name} has ${files}. Look: fairlead worktree show ${record.name}. Then merge or discard it: fairlead worktree merge ${record.name}`;
}
