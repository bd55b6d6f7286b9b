// The handler of scheduled baselines of models; evaluations are loaded with the first such run.
import type { RunHandler } from '../../../fleet/index.ts';

/** Creates the handler of runs that measure the drift of a model. */
export const lazyDriftHandler =
  (notify: (text: string) => void): RunHandler =>
  async (run, context) => {
    const { handleDriftRun } = await import('../../../evals/index.ts');
    return handleDriftRun(run, context, notify);
  };
