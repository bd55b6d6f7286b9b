// The driver of a run of an agent: opens its session, reads its letters, and works until it ends, rests or is left.
import { resolveLimits, Session, type RunOptions } from '../agent/index.ts';
import { hasUnreadInput } from '../agent/late-words.ts';
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
import { clientIn, handedIn, partsForClient, receipts } from './client.ts';
import { governed } from './governor.ts';
import { cancelStop, clearRead, deliver, inboxView, type LetterBox } from './inbox.ts';
import { outcomeOf, pastOf, questionsOf } from './outcome.ts';
import type { Outfitted, Outfitter } from './outfitter.ts';
import { runLog } from './run-log.ts';
import { voiceIn } from './voice.ts';

/** What a driver is given to work on a run. */
export type DriverContext = {
  readonly store: FleetStore;
  /** The worker whose run it is. */
  readonly worker: string;
  /** Cuts off what is under way and leaves the run: its reason is a FairleadError `run/left`. */
  readonly signal: AbortSignal;
  /** Leaves the run once the step under way is done. */
  readonly leave: AbortSignal;
  /** The run is no longer this worker's: nothing more may be written. `signal` aborts with it. */
  readonly lost: AbortSignal;
  /** Stands in front of all gates, and lets no call through while the fleet is stopped. */
  readonly gate: Gate;
  /** Throws while the fleet is stopped. */
  readonly mustGo: () => Promise<void>;
  /** Calls back when a session has a new letter, until the returned function is called. */
  readonly hear: (session: string, heard: () => void) => () => void;
  /** Sees what a model says before it is settled. */
  readonly live: (chunk: Chunk) => void;
};

/** Works on the runs of one kind. What it throws puts the run back. */
export type Driver = (run: FleetRun, context: DriverContext) => Promise<RunSettlement>;

/** A driver of agents. */
export const driverOf =
  (outfitter: Outfitter): Driver =>
  async (run, context) => {
    const { store, worker, mustGo, lost } = context;
    const ours = new WeakSet<Provider>();
    const govern = (provider: Provider): Provider => {
      if (ours.has(provider)) return provider;
      const around = governed(provider, { ledger: store.ledger, tenant: run.tenant, run: run.id, mustGo });
      ours.add(around);
      return around;
    };
    const outfit = await outfitter(run, context.signal, govern);
    try {
      const log = runLog(await store.sessions.open(run.session, { holder: worker, force: true }), lost);
      const session = await Session.open(partsFor(run, outfit.parts, context, govern), log, run.session).catch(
        async (error: unknown) => {
          await log.close();
          throw error;
        },
      );
      try {
        return await work(run, session, outfit, context);
      } finally {
        await session.close();
      }
    } finally {
      await outfit.close();
    }
  };

/** The agent as a fleet runs it: stoppable, governed, and with a person to ask about what may have happened. */
function partsFor(
  run: FleetRun,
  outfitted: ResolvedAgent,
  { gate }: DriverContext,
  govern: (provider: Provider) => Provider,
): ResolvedAgent {
  const parts = partsForClient(outfitted, clientIn(run.settings));
  return {
    ...parts,
    provider: govern(parts.provider),
    gates: [gate, ...parts.gates],
    stops: [cancelStop(run.id), ...parts.stops],
    views: [...(parts.views ?? []), inboxView],
    onUnknownOutcome: 'ask',
  };
}

async function work(
  run: FleetRun,
  session: Session,
  outfit: Outfitted,
  context: DriverContext,
): Promise<RunSettlement> {
  const { signal, leave, live, hear, store } = context;
  const client = clientIn(run.settings);
  const box: LetterBox = { inbox: store.inbox, session, name: run.session, run: run.id };
  const voice = voiceIn(store.partialText, run.session);
  const options: RunOptions = {
    signal,
    detachSignal: leave,
    onChunk(chunk) {
      voice.chunk(chunk);
      live(chunk);
    },
    runId: run.id,
    ...(outfit.limits ? { limits: outfit.limits } : {}),
    ...(client.choice === undefined ? {} : { toolChoice: client.choice }),
  };
  let last: Promise<void> = Promise.resolve();
  /** One reading after the other, so that none is under way when the run rests or ends. */
  const read = (): Promise<void> => {
    const mine = last.then(() => deliver(box));
    last = mine.catch(() => undefined);
    return mine;
  };
  // One that fails is tried again before the run rests or ends.
  const unhear = hear(run.session, () => void read().catch(() => undefined));
  const unwatch = session.subscribe((event, state) => {
    voice.event(event);
    outfit.told?.(event, state);
  });
  try {
    await outfit.opened?.(session);
    await read();
    await clearRead(box);
    const past = await begin(run, session, outfit, options);
    if (past) return past;
    for (;;) {
      if (session.state.run !== undefined && (signal.aborted || leave.aborted)) return { type: 'left' };
      await read();
      const settled = (await handOver(session)) ?? settlementOf(session.state);
      if (settled) return settled;
      // Words that came too late need a run to read them, and no turn of their own to begin it.
      await session.record(({ run: going }) => (going === undefined ? [newRun(session, outfit)] : []));
      await session.run(undefined, options);
    }
  } finally {
    voice.end();
    unwatch();
    unhear();
  }
}

const newRun = (
  { agent: parts }: Session,
  { limits }: Outfitted,
  { runId, toolChoice: choice }: RunOptions = {},
): Fact => ({
  type: 'run-started',
  run: runId ?? crypto.randomUUID(),
  limits: resolveLimits(parts.provider, limits),
  ...(choice === undefined ? {} : { choice }),
});

/** Ends a run that has nothing left to do but what its client does; those calls stay open for a run that brings their results. */
async function handOver(session: Session): Promise<RunSettlement | undefined> {
  const isHanded = (state: RunState): boolean => state.run !== undefined && handedIn(state).length > 0;
  if (!isHanded(session.state)) return undefined;
  await session.record((state) =>
    isHanded(state) ? [{ type: 'run-ended', reason: 'answered', detail: handedOver }] : [],
  );
  return session.state.run === undefined ? { type: 'ended', outcome: outcomeOf(session.state) } : undefined;
}

const handedOver = 'Its calls were handed to the client.';

/** Where a run stands that goes no further by itself; nothing where there is more to do. */
function settlementOf(state: RunState): RunSettlement | undefined {
  if (state.run !== undefined) {
    const questions = questionsOf(state);
    const open = state.calls.filter((call) => !call.result);
    // A call that waits holds back nothing but itself: one that was answered meanwhile is made first.
    return questions.length > 0 && questions.length === open.length ? { type: 'resting', questions } : undefined;
  }
  return hasUnreadInput(state) ? undefined : { type: 'ended', outcome: outcomeOf(state) };
}

/** Says the words, unless an attempt before this one did: then the run is gone on with, or its end is told. */
async function begin(
  run: FleetRun,
  session: Session,
  outfit: Outfitted,
  options: RunOptions,
): Promise<RunSettlement | undefined> {
  const { state } = session;
  if (state.run === run.id) return void (await session.run(undefined, options));
  const past = run.attempts > 1 ? await pastOf(session.log, state.seq, run.id) : undefined;
  if (past?.outcome && state.run === undefined)
    return hasUnreadInput(state) ? undefined : { type: 'ended', outcome: past.outcome };
  if (past?.said) return void (await session.run(undefined, options));
  // The queue gives out one run of a session at a time: what another left unfinished here was given up.
  if (state.run !== undefined) await session.run(undefined, { signal: AbortSignal.abort() });
  const client = clientIn(run.settings);
  const said: Fact = { type: 'input-received', input: run.id, how: 'continue', parts: [] };
  const begun = client.silent ? [said, newRun(session, outfit, options)] : [];
  await session.record((now) => [...receipts(now, client), ...begun]);
  if (client.silent) return void (await session.run(undefined, options));
  for (const [i, added] of ((await outfit.words?.(run.words, state)) ?? []).entries()) {
    const input = `${run.id}-note-${i + 1}`;
    if (!session.state.pending.some((each) => each.input === input)) await session.steer(added, { inputId: input });
  }
  return void (await session.run(run.words, { ...options, inputId: run.id }));
}
