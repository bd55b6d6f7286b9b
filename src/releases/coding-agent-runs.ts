// The run handlers of a worker that runs the coding agent on releases.
import { createRunAgentFactory, createRunHandlers } from '../coding-agent/index.ts';
import type { RunHandler } from '../fleet/index.ts';
import { withCanaryMonitor, type CanaryMonitorOptions } from './canary-monitor.ts';
import { createReleaseRunHandler, type ReleaseRunHandlerOptions } from './run-handler.ts';

/** The options of `createReleaseRunHandlers`. */
export type ReleaseRunHandlersOptions = CanaryMonitorOptions &
  Pick<ReleaseRunHandlerOptions, 'trustedKeys'> & {
    /** The model of runs that neither a release nor their settings name. */
    readonly model?: string | undefined;
    readonly notify: (text: string) => void;
  };

/** Creates the run handlers of a worker: runs of agents use the release in use, and the config of the user while there is none. */
export function createReleaseRunHandlers(options: ReleaseRunHandlersOptions): Readonly<Record<string, RunHandler>> {
  const { notify, model, releases, trustedKeys } = options;
  const handlers = createRunHandlers(notify, { model });
  const handle = createReleaseRunHandler({
    releases,
    trustedKeys,
    withoutRelease: handlers['run'] as RunHandler,
    createAgent: ({ folder, manifest }) =>
      createRunAgentFactory(notify, { configDir: folder, model: manifest.model?.id ?? model }),
  });
  return { ...handlers, run: withCanaryMonitor(handle, options) };
}
