// Sets the share of `limits.context` from which a compactor runs. A rule for programs; the coding agent does not use it.
import { FairleadError, type Compactor } from '../../core/index.ts';

/** Returns the compactor with this threshold: 0.8 compacts when the next request needs more than 80 % of `limits.context` (by default 90 % of the context window). */
export function compactAt(share: number, compactor: Compactor): Compactor {
  if (!(share > 0 && share <= 1))
    throw new FairleadError(
      'rules/bad-share',
      `A share of the context window must be more than 0 and at most 1, not ${share}.`,
      { blame: 'user' },
    );
  return { ...compactor, threshold: share, run: (state, context) => compactor.run(state, context) };
}
