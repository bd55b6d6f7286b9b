// Sessions as the server reads them: their events after a seq, and where they stand.
import { runStateView, toArray, type Event, type FleetStore, type Log, type RunState } from '../../core/index.ts';
import { createHttpError } from './errors.ts';
import { findActiveRun } from './session-messages.ts';

/** Does something with a session that is only read. */
export async function withSessionReader<T>(
  { sessions }: Pick<FleetStore, 'sessions'>,
  session: string,
  work: (log: Log) => Promise<T>,
): Promise<T> {
  const log = await sessions.reader(session);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Fails where there is no such session, unless a run is about to begin it. */
export async function assertSessionExists(
  store: Pick<FleetStore, 'sessions' | 'queue'>,
  session: string,
): Promise<void> {
  if (await findActiveRun(store, session)) return;
  await withSessionReader(store, session, async () => undefined);
}

/** Where a session stands, as far as its log tells without an agent. */
export async function readSessionState(log: Pick<Log, 'read'>): Promise<RunState> {
  const view = runStateView();
  let state = view.initial;
  for await (const events of log.read({ from: 'epoch' })) for (const event of events) state = view.on(state, event);
  return state;
}

/** At most so many events after a seq, in the order written, all branches. */
export async function readEventsAfter(
  log: Pick<Log, 'follow'>,
  from: number,
  tail: number,
  most: number,
): Promise<readonly Event[]> {
  if (from >= tail) return [];
  const done = new AbortController();
  const events: Event[] = [];
  for await (const event of log.follow(from, done.signal)) {
    events.push(event);
    if (events.length >= most || event.seq >= tail) break;
  }
  done.abort();
  return events;
}

/** The questions of a session that wait for a person, with what the calls would do. What is open where no run is, a client has. */
export const listPendingQuestions = (state: RunState): readonly Record<string, unknown>[] =>
  state.calls.flatMap(({ id, tool, input, ask }) =>
    ask && ask.allowed === undefined && state.run !== undefined
      ? [{ call: id, tool, question: ask.question, ...(ask.kind ? { about: ask.kind } : {}), input }]
      : [],
  );

/** A state in short. */
export const summarizeSessionState = (state: RunState): Record<string, unknown> => ({
  messages: toArray(state.messages).length,
  run: state.run ?? null,
  ended: state.ended ?? null,
  waiting: listPendingQuestions(state),
  spent: state.total,
  model: state.model,
  head: state.head,
  seq: state.seq,
});

/** Throws where a run is in a session: its history may not change under it. */
export async function assertNoActiveRun(store: Pick<FleetStore, 'queue'>, session: string): Promise<void> {
  const live = await findActiveRun(store, session);
  if (live)
    throw createHttpError('server/conflict', `The run ${live.id} is ${live.status} in this session.`, {
      hint: 'Cancel it first, or fork the session.',
    });
}
