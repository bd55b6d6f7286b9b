// Names worktrees that wait for a decision of the user, and what killed processes left.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ok, warn, type DoctorCheck } from './check.ts';

/** Lists worktrees that no process uses; it changes nothing. */
export const worktreesCheck: DoctorCheck = {
  name: 'worktrees',
  async run({ settings, signal }) {
    if (!existsSync(path.join(settings.dirs.state, 'worktrees'))) return ok('There is no worktree.');
    const { openUserWorktrees } = await import('../../coding-agent/worktrees/index.ts');
    const all = await openUserWorktrees(settings).list(undefined, signal);
    const idle = all.filter((each) => !each.isInUse);
    if (idle.length === 0) return ok(all.length === 0 ? 'There is no worktree.' : `${all.length} in use.`);
    const names = idle.map(({ record, error }) =>
      error === undefined ? record.name : `${record.name} (cannot be read)`,
    );
    return warn(
      `${idle.length === 1 ? 'One worktree is' : `${idle.length} worktrees are`} kept until you decide: ${names.join(', ')}.`,
      'fairlead worktree list --all shows them and removes what has no changes; merge or discard the others.',
    );
  },
};
