// An action that the harness takes by itself: the conversation is made shorter when it fills so much of the window.
import { FairleadError, type Compactor } from '../../core/index.ts';

/** The compactor, asked from this share of the window on: 0.8 is 80 %. */
export function compactAt(share: number, compactor: Compactor): Compactor {
  if (!(share > 0 && share <= 1))
    throw new FairleadError('rules/bad-share', `A share of the window is more than 0 and at most 1, not ${share}.`, {
      blame: 'user',
    });
  return { ...compactor, threshold: share, run: (state, context) => compactor.run(state, context) };
}
