// Handles one queued run with an agent: opens its session with a log that the lease protects, reads its inbox, and runs until the run is completed, waits, or the worker detaches from it.
import { continueWithApprovals, hasUnreadInput, runStartedFact, Session, type AdvanceOptions } from '../agent/index.ts';
import {
  type ResolvedAgent,
  type Chunk,
  type Fact,
  type FleetRun,
  type FleetStore,
  type Gate,
  type Provider,
  type RunState,
  type RunSettlement,
  readView,
  systemPort,
  type Event,
  type PartialTextChannel,
  type ProcessPort,
} from '../core/index.ts';
import { getClientOptions, listClientCalls, applyClientOptions, clientToolResultFacts } from './client-tools.ts';
import { createBudgetedProvider } from './budgeted-provider.ts';
import { createCancelStop, deleteReadMessages, drainInbox, inboxView, type InboxTarget } from './inbox.ts';
import { getRunOutcome, getRunTrace, findPreviousAttempt, listOpenQuestions, recordedRunsView } from './run-facts.ts';
import { createRestWatcher } from './rate-limit-rest.ts';
import { createRunLog } from './run-log.ts';
import type { AgentInstance, AgentFactory } from './agent-factory.ts';

/** What a handler gets besides the run. */
export type RunHandlerContext = {
  readonly store: FleetStore;
  /** The id of the worker. */
  readonly worker: string;
  /** Aborts the current step and detaches from the run: its reason is a FairleadError `run/left`. The settlement is then `released`. */
  readonly signal: AbortSignal;
  /** Detaches from the run after the current step. */
  readonly stopSignal: AbortSignal;
  /** Aborts when another worker has taken over the run: nothing may be written from then on. `signal` aborts with it. */
  readonly leaseLost: AbortSignal;
  /** The first gate: denies every tool call while the fleet is stopped. */
  readonly gate: Gate;
  /** Throws while the fleet is stopped. */
  readonly assertNotStopped: () => Promise<void>;
  /** Calls the listener when a session has a new message, until the returned function is called. */
  readonly onInboxMessage: (session: string, listener: () => void) => () => void;
  /** Called with partial output of the model. */
  readonly onChunk: (chunk: Chunk) => void;
  /** The clock, the timers and the random ids of the worker; those of this process by default. */
  readonly port?: ProcessPort;
};

/** Handles the runs of one kind. If it throws, the run is tried again later. */
export type RunHandler = (run: FleetRun, context: RunHandlerContext) => Promise<RunSettlement>;

/** Creates the handler of runs with the agents of a factory. */
export const createAgentRunHandler =
  (createAgent: AgentFactory): RunHandler =>
  async (run, context) => {
    const { store, worker, assertNotStopped, leaseLost, port = systemPort } = context;
    const wrapped = new WeakSet<Provider>();
    const wrapProvider = (provider: Provider): Provider => {
      if (wrapped.has(provider)) return provider;
      const budgeted = createBudgetedProvider(provider, {
        ledger: store.ledger,
        tenant: run.tenant,
        run: run.id,
        assertNotStopped,
        port,
      });
      wrapped.add(budgeted);
      return budgeted;
    };
    const rest = createRestWatcher(run, port);
    const instance = await createAgent(run, context.signal, wrapProvider);
    try {
      const log = createRunLog(
        await store.sessions.open(run.session, { holder: worker, force: true, tenant: run.tenant }),
        leaseLost,
        port,
      );
      const session = await Session.open(
        createRunParts(run, instance.parts, context, (provider) => rest.watch(wrapProvider(provider))),
        log,
        run.session,
      ).catch(async (error: unknown) => {
        await log.close();
        throw error;
      });
      try {
        const signal = AbortSignal.any([context.signal, rest.signal]);
        const settlement = await runToSettlement(run, session, instance, { ...context, signal });
        const notBefore = rest.notBefore();
        return settlement.type === 'released' && notBefore !== undefined ? { ...settlement, notBefore } : settlement;
      } finally {
        await session.close();
      }
    } finally {
      await instance.close();
    }
  };

/** The agent with the kill switch, the budget, the inbox, and approvals for effects whose outcome is unknown. */
function createRunParts(
  run: FleetRun,
  agent: ResolvedAgent,
  { gate }: RunHandlerContext,
  wrapProvider: (provider: Provider) => Provider,
): ResolvedAgent {
  const parts = applyClientOptions(agent, getClientOptions(run.settings));
  return {
    ...parts,
    provider: wrapProvider(parts.provider),
    gates: [gate, ...parts.gates],
    stops: [createCancelStop(run.id), ...parts.stops],
    views: [...(parts.views ?? []), inboxView, recordedRunsView],
    onUnknownOutcome: 'ask',
  };
}

async function runToSettlement(
  run: FleetRun,
  session: Session,
  instance: AgentInstance,
  context: RunHandlerContext,
): Promise<RunSettlement> {
  const { signal, stopSignal, onChunk, onInboxMessage, store } = context;
  const client = getClientOptions(run.settings);
  const { grantScope } = instance;
  const inbox: InboxTarget = {
    inbox: store.inbox,
    session,
    sessionId: run.session,
    runId: run.id,
    ...(grantScope ? { grantScope } : {}),
  };
  const publisher = createPartialTextPublisher(store.partialText, run.session);
  const options: AdvanceOptions = {
    signal,
    detachSignal: stopSignal,
    onChunk(chunk) {
      publisher.onChunk(chunk);
      onChunk(chunk);
    },
    runId: run.id,
    ...(context.port ? { port: context.port } : {}),
    ...(instance.limits ? { limits: instance.limits } : {}),
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
    ...getRunTrace(run),
  };
  let lastRead: Promise<void> = Promise.resolve();
  /** Reads one after the other, so that no read is active when the run ends or waits. */
  const readInbox = (): Promise<void> => {
    const reading = lastRead.then(() => drainInbox(inbox));
    lastRead = reading.catch(() => undefined);
    return reading;
  };
  // A failed read is repeated below, before the run ends or waits.
  const unsubscribeInbox = onInboxMessage(run.session, () => void readInbox().catch(() => undefined));
  const unsubscribeEvents = session.subscribe((event, state) => {
    publisher.onEvent(event);
    instance.onEvent?.(event, state);
  });
  try {
    await instance.onSessionOpened?.(session);
    await readInbox();
    await deleteReadMessages(inbox);
    const first = await startOrResume(run, session, instance, options);
    if ('type' in first) return first;
    const isDetached = (): boolean => session.state.run !== undefined && (signal.aborted || stopSignal.aborted);
    const endedForClient = new AbortController();
    // The decisions of the user are messages in the inbox: a worker detaches from a run that waits for them.
    const state = await continueWithApprovals(session, first, {
      ...options,
      onApproval: instance.onApproval,
      waitSignal: endedForClient.signal,
      async beforeDecision() {
        if (isDetached()) return;
        await readInbox();
        if (await endWithClientCalls(session)) endedForClient.abort();
      },
      async advance() {
        if (isDetached()) return session.state;
        // Input that arrived after the run ended starts another run in the log, which reads it.
        await session.record(({ run: active }) =>
          active === undefined ? [runStartedFact(session.agent, { limits: instance.limits ?? {} })] : [],
        );
        return session.advance(undefined, options);
      },
    });
    if (isDetached()) return { type: 'released' };
    return endedForClient.signal.aborted
      ? { type: 'completed', outcome: getRunOutcome(state) }
      : await getSettlement(state, instance);
  } finally {
    publisher.close();
    unsubscribeEvents();
    unsubscribeInbox();
  }
}

/** Ends a run if only calls of client tools are left; they stay open until another run brings their results. Returns whether it ended. */
async function endWithClientCalls(session: Session): Promise<boolean> {
  const isWaitingForClient = (state: RunState): boolean => state.run !== undefined && listClientCalls(state).length > 0;
  if (!isWaitingForClient(session.state)) return false;
  await session.record((state) =>
    isWaitingForClient(state) ? [{ type: 'run-ended', reason: 'answered', detail: clientCallsDetail }] : [],
  );
  return session.state.run === undefined;
}

const clientCallsDetail = 'The client runs the remaining tool calls.';

/** Returns the settlement of a run that ended or waits for approvals. A run with unread input is released: another attempt reads the input. */
async function getSettlement(state: RunState, { listScopes }: AgentInstance): Promise<RunSettlement> {
  if (state.run !== undefined) return { type: 'waiting', pendingApprovals: await listOpenQuestions(state, listScopes) };
  return hasUnreadInput(state) ? { type: 'released' } : { type: 'completed', outcome: getRunOutcome(state) };
}

/** Records the prompt and advances the session by one step. If an earlier attempt recorded it, resumes the run, or returns its settlement if it has ended. */
async function startOrResume(
  run: FleetRun,
  session: Session,
  instance: AgentInstance,
  options: AdvanceOptions,
): Promise<RunState | RunSettlement> {
  const { state } = session;
  if (state.run === run.id) return session.advance(undefined, options);
  const isRepeated = run.attempts > 1 || readView(state, recordedRunsView).includes(run.id);
  const previous = isRepeated ? await findPreviousAttempt(session.log, state.seq, run.id, options.port) : undefined;
  if (previous?.outcome && state.run === undefined)
    return hasUnreadInput(state) ? state : { type: 'completed', outcome: previous.outcome };
  if (previous?.promptRecorded) return session.advance(undefined, options);
  // The queue runs one run of a session at a time: an unfinished run in the log has no worker any more, so it is cancelled.
  if (state.run !== undefined) await session.advance(undefined, { signal: AbortSignal.abort() });
  const client = getClientOptions(run.settings);
  const input: Fact = { type: 'input-received', input: run.id, how: 'continue', parts: [] };
  const started = client.silent
    ? [input, runStartedFact(session.agent, { ...options, limits: instance.limits ?? {} })]
    : [];
  await session.record((current) => [...clientToolResultFacts(current, client), ...started]);
  if (client.silent) return session.advance(undefined, options);
  for (const [i, note] of ((await instance.onPrompt?.(run.prompt, state)) ?? []).entries()) {
    const inputId = `${run.id}-note-${i + 1}`;
    if (!session.state.pending.some((each) => each.input === inputId))
      await session.steer(note, { inputId, by: 'hook' });
  }
  return session.advance(run.prompt, { ...options, inputId: run.id });
}

/** Publishes the partial text of one session. */
type PartialTextPublisher = {
  /** Must get every event of the session: events say which turn is active and when its text is committed. */
  onEvent(event: Event): void;
  onChunk(chunk: Chunk): void;
  /** Discards partial text that was not committed. */
  close(): void;
};

/** Creates the publisher of a session. */
function createPartialTextPublisher(channel: PartialTextChannel, session: string): PartialTextPublisher {
  let turn: { readonly turn: number; readonly since: number } | undefined;
  /** The indexes of the text parts of the answer; each starts a new line. */
  let textParts = new Set<number>();
  return {
    onEvent(event) {
      if (event.type === 'turn-ended' || event.type === 'turn-failed') channel.commit(session);
      if (event.type !== 'turn-started') return;
      turn = { turn: event.turn, since: event.seq };
      textParts = new Set();
    },
    onChunk(chunk) {
      if (!turn) return;
      if (chunk.type === 'restarted') {
        textParts = new Set();
        channel.publish(session, { ...turn, text: '', restarted: true });
      }
      if (chunk.type === 'part-started' && chunk.part === 'text') {
        if (textParts.size > 0) channel.publish(session, { ...turn, text: '\n' });
        textParts.add(chunk.index);
      }
      if (chunk.type === 'part-delta' && textParts.has(chunk.index))
        channel.publish(session, { ...turn, text: chunk.text });
    },
    close: () => channel.discard(session),
  };
}
