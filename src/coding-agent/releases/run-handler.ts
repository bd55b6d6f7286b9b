// Handles queued runs on releases: assigns a release to each run, records it in the session, and keeps it over crashes and rollbacks.
import { isObject, type FleetRun, type FleetStore } from '../../core/index.ts';
import { createAgentRunHandler, type AgentFactory, type RunHandler } from '../../fleet/index.ts';
import { assignRelease, foldHistory } from './history.ts';
import type { CheckedOutRelease, ReleaseStore } from './release-store.ts';

/** The key of the annotation that records the release of a run. */
export const releaseAnnotationKey = 'release';

/** The options of `createReleaseRunHandler`. */
export type ReleaseRunHandlerOptions = {
  readonly releases: ReleaseStore;
  readonly trustedKeys: readonly string[];
  /** Creates the agents of a release; called once for each release. */
  readonly createAgent: (release: CheckedOutRelease) => AgentFactory;
  /** Handles runs while no release is in use. */
  readonly withoutRelease: RunHandler;
};

/** Creates a handler that runs each run on its release. */
export function createReleaseRunHandler(options: ReleaseRunHandlerOptions): RunHandler {
  const { releases, trustedKeys, createAgent, withoutRelease } = options;
  const factories = new Map<string, AgentFactory>();
  const getFactory = (id: string): AgentFactory => {
    // Each run verifies the signature, so that a key that is no longer trusted counts at once.
    const release = releases.checkOut(id, trustedKeys);
    const factory = factories.get(id) ?? createAgent(release);
    factories.set(id, factory);
    return factory;
  };
  return async (run, context) => {
    const recorded = run.attempts > 1 ? await findRecordedRelease(context.store, run) : undefined;
    // Without a record, that of the time at which the run started: a later attempt after a rollback continues on the same release.
    const id = recorded ?? assignRelease(foldHistory(releases.readHistory(), run.started), run.id);
    if (id === undefined) return withoutRelease(run, context);
    const factory = recorded === undefined ? withReleaseRecord(getFactory(id), id) : getFactory(id);
    const settlement = await createAgentRunHandler(factory)(run, context);
    if (settlement.type !== 'completed') return settlement;
    return { ...settlement, outcome: { ...settlement.outcome, release: id } };
  };
}

/** Returns the release that an earlier attempt recorded in the session of a run. */
async function findRecordedRelease({ sessions }: FleetStore, run: FleetRun): Promise<string | undefined> {
  if ((await sessions.find(run.session)) === undefined) return undefined;
  const log = await sessions.reader(run.session);
  try {
    for await (const events of log.read())
      for (const event of events) {
        if (event.type !== 'annotation-added' || event.key !== releaseAnnotationKey) continue;
        const { run: runId, id } = isObject(event.value) ? event.value : {};
        if (runId === run.id && typeof id === 'string') return id;
      }
    return undefined;
  } finally {
    await log.close();
  }
}

/** Records the release in the session before the prompt, so that every run in a log names the release it ran on. */
const withReleaseRecord =
  (factory: AgentFactory, id: string): AgentFactory =>
  async (run, signal, wrapProvider) => {
    const instance = await factory(run, signal, wrapProvider);
    return {
      ...instance,
      async onSessionOpened(session) {
        await session.annotate(releaseAnnotationKey, { run: run.id, id });
        await instance.onSessionOpened?.(session);
      },
    };
  };
