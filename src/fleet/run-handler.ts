// The driver of a run of an agent: opens its session, reads its letters, and works until it ends, rests or is left.
import { hasUnreadInput, resolveLimits, Session, type AdvanceOptions } from '../agent/index.ts';
import type {
  ResolvedAgent,
  Chunk,
  Fact,
  FleetRun,
  FleetStore,
  Gate,
  Provider,
  RunState,
  RunSettlement,
} from '../core/index.ts';
import { getClientOptions, listClientCalls, applyClientOptions, clientToolResultFacts } from './client-tools.ts';
import { createBudgetedProvider } from './budgeted-provider.ts';
import { createCancelStop, deleteReadMessages, drainInbox, inboxView, type InboxTarget } from './inbox.ts';
import { getRunOutcome, findPreviousAttempt, listOpenQuestions } from './outcome.ts';
import type { AgentInstance, AgentFactory } from './agent-factory.ts';
import { createRunLog } from './run-log.ts';
import { createPartialTextPublisher } from './publish-partial-text.ts';

/** What a driver is given to work on a run. */
export type RunHandlerContext = {
  readonly store: FleetStore;
  /** The worker whose run it is. */
  readonly worker: string;
  /** Cuts off what is under way and leaves the run: its reason is a FairleadError `run/left`. */
  readonly signal: AbortSignal;
  /** Leaves the run once the step under way is done. */
  readonly stopSignal: AbortSignal;
  /** The run is no longer this worker's: nothing more may be written. `signal` aborts with it. */
  readonly leaseLost: AbortSignal;
  /** Stands in front of all gates, and lets no call through while the fleet is stopped. */
  readonly gate: Gate;
  /** Throws while the fleet is stopped. */
  readonly assertNotStopped: () => Promise<void>;
  /** Calls back when a session has a new letter, until the returned function is called. */
  readonly onInboxMessage: (session: string, heard: () => void) => () => void;
  /** Sees what a model says before it is settled. */
  readonly onChunk: (chunk: Chunk) => void;
};

/** Works on the runs of one kind. What it throws puts the run back. */
export type RunHandler = (run: FleetRun, context: RunHandlerContext) => Promise<RunSettlement>;

/** A driver of agents. */
export const createAgentRunHandler =
  (outfitter: AgentFactory): RunHandler =>
  async (run, context) => {
    const { store, worker, assertNotStopped, leaseLost } = context;
    const ours = new WeakSet<Provider>();
    const govern = (provider: Provider): Provider => {
      if (ours.has(provider)) return provider;
      const around = createBudgetedProvider(provider, {
        ledger: store.ledger,
        tenant: run.tenant,
        run: run.id,
        assertNotStopped,
      });
      ours.add(around);
      return around;
    };
    const outfit = await outfitter(run, context.signal, govern);
    try {
      const log = createRunLog(await store.sessions.open(run.session, { holder: worker, force: true }), leaseLost);
      const session = await Session.open(createRunParts(run, outfit.parts, context, govern), log, run.session).catch(
        async (error: unknown) => {
          await log.close();
          throw error;
        },
      );
      try {
        return await runToSettlement(run, session, outfit, context);
      } finally {
        await session.close();
      }
    } finally {
      await outfit.close();
    }
  };

/** The agent as a fleet runs it: stoppable, governed, and with a person to ask about what may have happened. */
function createRunParts(
  run: FleetRun,
  outfitted: ResolvedAgent,
  { gate }: RunHandlerContext,
  govern: (provider: Provider) => Provider,
): ResolvedAgent {
  const parts = applyClientOptions(outfitted, getClientOptions(run.settings));
  return {
    ...parts,
    provider: govern(parts.provider),
    gates: [gate, ...parts.gates],
    stops: [createCancelStop(run.id), ...parts.stops],
    views: [...(parts.views ?? []), inboxView],
    onUnknownOutcome: 'ask',
  };
}

async function runToSettlement(
  run: FleetRun,
  session: Session,
  outfit: AgentInstance,
  context: RunHandlerContext,
): Promise<RunSettlement> {
  const { signal, stopSignal, onChunk, onInboxMessage, store } = context;
  const client = getClientOptions(run.settings);
  const box: InboxTarget = { inbox: store.inbox, session, sessionId: run.session, runId: run.id };
  const voice = createPartialTextPublisher(store.partialText, run.session);
  const options: AdvanceOptions = {
    signal,
    detachSignal: stopSignal,
    onChunk(chunk) {
      voice.onChunk(chunk);
      onChunk(chunk);
    },
    runId: run.id,
    ...(outfit.limits ? { limits: outfit.limits } : {}),
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
  };
  let last: Promise<void> = Promise.resolve();
  /** One reading after the other, so that none is under way when the run rests or ends. */
  const read = (): Promise<void> => {
    const mine = last.then(() => drainInbox(box));
    last = mine.catch(() => undefined);
    return mine;
  };
  // One that fails is tried again before the run rests or ends.
  const unhear = onInboxMessage(run.session, () => void read().catch(() => undefined));
  const unwatch = session.subscribe((event, state) => {
    voice.onEvent(event);
    outfit.onEvent?.(event, state);
  });
  try {
    await outfit.onSessionOpened?.(session);
    await read();
    await deleteReadMessages(box);
    const past = await startOrResume(run, session, outfit, options);
    if (past) return past;
    for (;;) {
      if (session.state.run !== undefined && (signal.aborted || stopSignal.aborted)) return { type: 'released' };
      await read();
      const settled = (await endWithClientCalls(session)) ?? getSettlement(session.state);
      if (settled) return settled;
      // Words that came too late need a run to read them, and no turn of their own to begin it.
      await session.record(({ run: going }) => (going === undefined ? [runStartedFact(session, outfit)] : []));
      await session.advance(undefined, options);
    }
  } finally {
    voice.close();
    unwatch();
    unhear();
  }
}

const runStartedFact = (
  { agent }: Session,
  { limits }: AgentInstance,
  { runId, toolChoice }: AdvanceOptions = {},
): Fact => ({
  type: 'run-started',
  run: runId ?? crypto.randomUUID(),
  limits: resolveLimits(agent.provider, { ...agent.limits, ...limits }),
  ...(toolChoice === undefined ? {} : { choice: toolChoice }),
});

/** Ends a run that has nothing left to do but what its client does; those calls stay open for a run that brings their results. */
async function endWithClientCalls(session: Session): Promise<RunSettlement | undefined> {
  const isHanded = (state: RunState): boolean => state.run !== undefined && listClientCalls(state).length > 0;
  if (!isHanded(session.state)) return undefined;
  await session.record((state) =>
    isHanded(state) ? [{ type: 'run-ended', reason: 'answered', detail: clientCallsDetail }] : [],
  );
  return session.state.run === undefined ? { type: 'completed', outcome: getRunOutcome(session.state) } : undefined;
}

const clientCallsDetail = 'Its calls were handed to the client.';

/** Where a run stands that goes no further by itself; nothing where there is more to do. */
function getSettlement(state: RunState): RunSettlement | undefined {
  if (state.run !== undefined) {
    const questions = listOpenQuestions(state);
    const open = state.calls.filter((call) => !call.result);
    // A call that waits holds back nothing but itself: one that was answered meanwhile is made first.
    return questions.length > 0 && questions.length === open.length
      ? { type: 'waiting', pendingApprovals: questions }
      : undefined;
  }
  return hasUnreadInput(state) ? undefined : { type: 'completed', outcome: getRunOutcome(state) };
}

/** Says the words, unless an attempt before this one did: then the run is gone on with, or its end is told. */
async function startOrResume(
  run: FleetRun,
  session: Session,
  outfit: AgentInstance,
  options: AdvanceOptions,
): Promise<RunSettlement | undefined> {
  const { state } = session;
  if (state.run === run.id) return void (await session.advance(undefined, options));
  const past = run.attempts > 1 ? await findPreviousAttempt(session.log, state.seq, run.id) : undefined;
  if (past?.outcome && state.run === undefined)
    return hasUnreadInput(state) ? undefined : { type: 'completed', outcome: past.outcome };
  if (past?.promptRecorded) return void (await session.advance(undefined, options));
  // The queue gives out one run of a session at a time: what another left unfinished here was given up.
  if (state.run !== undefined) await session.advance(undefined, { signal: AbortSignal.abort() });
  const client = getClientOptions(run.settings);
  const said: Fact = { type: 'input-received', input: run.id, how: 'continue', parts: [] };
  const begun = client.silent ? [said, runStartedFact(session, outfit, options)] : [];
  await session.record((now) => [...clientToolResultFacts(now, client), ...begun]);
  if (client.silent) return void (await session.advance(undefined, options));
  for (const [i, added] of ((await outfit.onPrompt?.(run.prompt, state)) ?? []).entries()) {
    const input = `${run.id}-note-${i + 1}`;
    if (!session.state.pending.some((each) => each.input === input)) await session.steer(added, { inputId: input });
  }
  return void (await session.advance(run.prompt, { ...options, inputId: run.id }));
}
