// The errors of worktrees.
import { FairleadError } from '../../core/index.ts';

/** Creates an error of a worktree; the sentence says what was not done. */
export const worktreeError = (code: string, sentence: string, hint?: string): FairleadError =>
  new FairleadError(`worktrees/${code}`, sentence, { blame: 'user', ...(hint === undefined ? {} : { hint }) });
