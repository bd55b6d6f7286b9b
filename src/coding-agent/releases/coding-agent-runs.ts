// The run handlers of a worker that runs the coding agent on releases.
import { createRunAgentFactory, createRunHandlers, type RunAgentOptions } from '../fleet/agent-factory.ts';
import type { RunHandler } from '../../fleet/index.ts';
import { withCanaryMonitor, type CanaryMonitorOptions } from './canary-monitor.ts';
import { createReleaseRunHandler, type ReleaseRunHandlerOptions } from './run-handler.ts';

/** The options of `createReleaseRunHandlers`. */
export type ReleaseRunHandlersOptions = CanaryMonitorOptions &
  Pick<ReleaseRunHandlerOptions, 'trustedKeys'> & {
    /** The options of the agents of runs that use no release. */
    readonly agents?: RunAgentOptions;
    readonly notify: (text: string) => void;
  };

/** Creates the run handlers of a worker: runs of agents use the release in use, and the config of the user while there is none. */
export function createReleaseRunHandlers(options: ReleaseRunHandlersOptions): Readonly<Record<string, RunHandler>> {
  const { notify, agents = {}, releases, trustedKeys } = options;
  const handlers = createRunHandlers(notify, agents);
  const handle = createReleaseRunHandler({
    releases,
    trustedKeys,
    withoutRelease: handlers['run'] as RunHandler,
    createAgent: ({ folder, manifest }) =>
      createRunAgentFactory(notify, { ...agents, configDir: folder, model: manifest.model?.id ?? agents.model }),
  });
  return { ...handlers, run: withCanaryMonitor(handle, options) };
}
