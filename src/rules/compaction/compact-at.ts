// Compacts a conversation automatically when it fills a given share of the context window.
import { FairleadError, type Compactor } from '../../core/index.ts';

/** Wraps a compactor so that it runs from this share of the context window on: 0.8 is 80 %. */
export function compactAt(share: number, compactor: Compactor): Compactor {
  if (!(share > 0 && share <= 1))
    throw new FairleadError(
      'rules/bad-share',
      `A share of the context window must be more than 0 and at most 1, not ${share}.`,
      {
        blame: 'user',
      },
    );
  return { ...compactor, threshold: share, run: (state, context) => compactor.run(state, context) };
}
