// Reads sessions for HTTP routes: state, events after a sequence number, pending approvals.
import {
  pendingApprovals,
  runStateView,
  toArray,
  type Event,
  type FleetStore,
  type Log,
  type RunState,
} from '../../core/index.ts';
import { findActiveRun } from './session-messages.ts';

/** Calls a function with a read-only log of a session, and closes the log after it. */
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

/** Throws if the session does not exist and no run is queued that would create it. */
export async function assertSessionExists(
  store: Pick<FleetStore, 'sessions' | 'queue'>,
  session: string,
): Promise<void> {
  if (await findActiveRun(store, session)) return;
  await withSessionReader(store, session, async () => undefined);
}

/** Returns the run state of a session as its log gives it, without an agent. */
export async function readSessionState(log: Pick<Log, 'read'>): Promise<RunState> {
  const view = runStateView();
  let state = view.initial;
  for await (const events of log.read({ from: 'epoch' })) for (const event of events) state = view.on(state, event);
  return state;
}

/** Returns up to `limit` events after a sequence number, in the order written, of all branches. */
export async function readEventsAfter(
  log: Pick<Log, 'follow'>,
  from: number,
  tail: number,
  limit: number,
): Promise<readonly Event[]> {
  if (from >= tail) return [];
  const done = new AbortController();
  const events: Event[] = [];
  for await (const event of log.follow(from, done.signal)) {
    events.push(event);
    if (events.length >= limit || event.seq >= tail) break;
  }
  done.abort();
  return events;
}

/** Returns the pending approvals of a session, with the input of each call. Without an active run, an open call belongs to the client. */
export const listPendingApprovals = (state: RunState): readonly Record<string, unknown>[] =>
  state.run === undefined ? [] : pendingApprovals(state).map(({ id, ...pending }) => ({ call: id, ...pending }));

/** Returns a summary of a session state. */
export const summarizeSessionState = (state: RunState): Record<string, unknown> => ({
  messages: toArray(state.messages).length,
  run: state.run ?? null,
  ended: state.ended ?? null,
  pendingApprovals: listPendingApprovals(state),
  spent: state.total,
  model: state.model,
  head: state.head,
  seq: state.seq,
});
