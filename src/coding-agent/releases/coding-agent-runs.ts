// The run handlers of a worker that runs the coding agent on releases.
import {
  createPlanRunHandler,
  createRunAgentFactory,
  createRunHandlers,
  type RunAgentOptions,
  type RunKind,
} from '../fleet/agent-factory.ts';
import { createVerifyRunHandler } from '../fleet/verify-run.ts';
import type { RunHandler } from '../../fleet/index.ts';
import { withCanaryMonitor, type CanaryMonitorOptions } from './canary-monitor.ts';
import type { CheckedOutRelease } from './release-store.ts';
import { createReleaseRunHandler, createReleaseTaskHandler, type ReleaseRunHandlerOptions } from './run-handler.ts';

/** The options of `createReleaseRunHandlers`. */
export type ReleaseRunHandlersOptions = CanaryMonitorOptions &
  Pick<ReleaseRunHandlerOptions, 'trustedKeys'> & {
    /** The options of the agents of runs that use no release. */
    readonly agents?: RunAgentOptions;
    readonly notify: (text: string) => void;
  };

/** Creates the run handlers of a worker: runs of every kind use the release in use, and the config of the user while there is none. */
export function createReleaseRunHandlers(options: ReleaseRunHandlersOptions): Readonly<Record<RunKind, RunHandler>> {
  const { notify, agents = {}, releases, trustedKeys } = options;
  const handlers = createRunHandlers(notify, agents);
  const toAgentOptions = ({ folder, manifest }: CheckedOutRelease): RunAgentOptions => ({
    ...agents,
    configDir: folder,
    model: manifest.model?.id ?? agents.model,
  });
  const onReleases: Readonly<Record<RunKind, RunHandler>> = {
    run: createReleaseRunHandler({
      releases,
      trustedKeys,
      withoutRelease: handlers.run,
      createAgent: (release) => createRunAgentFactory(notify, toAgentOptions(release)),
    }),
    // The steps of a plan are child runs on the same release.
    plan: createReleaseTaskHandler({
      releases,
      trustedKeys,
      withoutRelease: handlers.plan,
      createHandler: (release) => createPlanRunHandler(notify, createRunAgentFactory(notify, toAgentOptions(release))),
    }),
    verify: createReleaseTaskHandler({
      releases,
      trustedKeys,
      withoutRelease: handlers.verify,
      createHandler: (release) => createVerifyRunHandler(notify, toAgentOptions(release)),
    }),
  };
  return {
    run: withCanaryMonitor(onReleases.run, options),
    plan: withCanaryMonitor(onReleases.plan, options),
    verify: withCanaryMonitor(onReleases.verify, options),
  };
}
