// Handles queued runs on releases: assigns a release to each run, records it in the session, and keeps it over crashes and rollbacks.
import {
  isObject,
  openSessionWriter,
  runStateView,
  type Fact,
  type FleetRun,
  type FleetStore,
  type RunQueue,
} from '../../core/index.ts';
import {
  createAgentRunHandler,
  type AgentFactory,
  type RunHandler,
  type RunHandlerContext,
} from '../../fleet/index.ts';
import { assignRelease, foldHistory } from './history.ts';
import type { CheckedOutRelease, ReleaseStore } from './release-store.ts';

/** The key of the annotation that records the release of a run. */
export const releaseAnnotationKey = 'release';

type HandlerOptions = {
  readonly releases: ReleaseStore;
  readonly trustedKeys: readonly string[];
  /** Handles runs while no release is in use. */
  readonly withoutRelease: RunHandler;
};

/** The options of `createReleaseRunHandler`. */
export type ReleaseRunHandlerOptions = HandlerOptions & {
  /** Creates the agents of a release; called once for each release. */
  readonly createAgent: (release: CheckedOutRelease) => AgentFactory;
};

/** The options of `createReleaseTaskHandler`. */
export type ReleaseTaskHandlerOptions = HandlerOptions & {
  /** Creates the handler of the runs of a release; called once for each release. */
  readonly createHandler: (release: CheckedOutRelease) => RunHandler;
};

/** Creates a handler that runs the agent of each run on its release. */
export function createReleaseRunHandler({ createAgent, ...options }: ReleaseRunHandlerOptions): RunHandler {
  return createHandler(options, createAgent, async (factory, id, isRecorded, run, context) =>
    createAgentRunHandler(isRecorded ? factory : withReleaseRecord(factory, id))(run, context),
  );
}

/** Creates a handler of runs without an agent of their own, such as plans and verifications, each on its release. */
export function createReleaseTaskHandler({ createHandler: create, ...options }: ReleaseTaskHandlerOptions): RunHandler {
  return createHandler(options, create, async (handle, id, isRecorded, run, context) => {
    if (!isRecorded) await recordRelease(run, id, context);
    return handle(run, context);
  });
}

type HandleOnRelease<T> = (
  made: T,
  id: string,
  isRecorded: boolean,
  run: FleetRun,
  context: RunHandlerContext,
) => ReturnType<RunHandler>;

function createHandler<T>(
  { releases, trustedKeys, withoutRelease }: HandlerOptions,
  create: (release: CheckedOutRelease) => T,
  handle: HandleOnRelease<T>,
): RunHandler {
  const created = new Map<string, T>();
  const getCreated = (id: string): T => {
    // Each run verifies the signature, so that a key that is no longer trusted counts at once.
    const release = releases.checkOut(id, trustedKeys);
    const made = created.get(id) ?? create(release);
    created.set(id, made);
    return made;
  };
  return async (run, context) => {
    const { store } = context;
    const recorded = run.attempts > 1 ? await findRecordedRelease(store, run) : undefined;
    const id = recorded ?? (await decideRelease(releases, store.queue, run));
    if (id === undefined) return withoutRelease(run, context);
    const settlement = await handle(getCreated(id), id, recorded !== undefined, run, context);
    if (settlement.type !== 'completed') return settlement;
    return { ...settlement, outcome: { ...settlement.outcome, release: id } };
  };
}

/**
 * Decides the release of a run from the history at the time at which it started, so that a later attempt after a rollback decides the
 * same. A child run uses the release of the run that started it, and all runs of a session are on the same side of a canary.
 */
async function decideRelease(
  releases: Pick<ReleaseStore, 'readHistory'>,
  queue: RunQueue,
  run: FleetRun,
): Promise<string | undefined> {
  const first = await findFirstRun(queue, run);
  return assignRelease(foldHistory(releases.readHistory(), first.started), first.session);
}

/** The maximum depth of child runs that is followed. */
const maxDepth = 20;

/** Returns the run that started a run and its parents. A client may name any parent, so the id prefix and the tenant must match too. */
async function findFirstRun(queue: RunQueue, run: FleetRun): Promise<FleetRun> {
  let first = run;
  for (let depth = 0; depth < maxDepth && first.parent !== undefined; depth++) {
    const parent = await queue.run(first.parent);
    if (!parent || parent.tenant !== first.tenant || !first.id.startsWith(`${parent.id}/`)) break;
    first = parent;
  }
  return first;
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

/** Records the release in the session of a run, before its handler opens it. */
async function recordRelease(run: FleetRun, id: string, { store, worker }: RunHandlerContext): Promise<void> {
  const log = await store.sessions.open(run.session, { holder: worker, force: true, tenant: run.tenant });
  try {
    const writer = await openSessionWriter(log, runStateView());
    const fact: Fact = { type: 'annotation-added', key: releaseAnnotationKey, value: { run: run.id, id } };
    await writer.record((state) =>
      state.session === '' ? [{ type: 'session-started', session: run.session }, fact] : [fact],
    );
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
