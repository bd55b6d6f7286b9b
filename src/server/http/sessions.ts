// Sessions on behalf of HTTP routes: reads their state and events, sends messages to their active run, and opens them without an agent to fork and edit them.
import {
  pendingApprovals,
  runStateView,
  toArray,
  type Log,
  type RunState,
  type FleetRun,
  type InboxMessage,
  FairleadError,
  type ResolvedAgent,
  type NamedView,
  type Provider,
  type Tool,
} from '../../core/index.ts';
import { sendMessage, listActiveRuns } from '../../fleet/index.ts';
import { withSessionReader } from '../../sessions/index.ts';
import { Session } from '../../agent/index.ts';
import { createHttpError } from './errors.ts';
import type { ScopedStore } from './scoped-store.ts';

/** Throws if the session does not exist and no run is queued that would create it. */
export async function assertSessionExists(
  store: Pick<ScopedStore, 'sessions' | 'queue'>,
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

/** Returns the active run of a session, if there is one; if several are queued, the one that the others wait for. */
export async function findActiveRun(store: Pick<ScopedStore, 'queue'>, session: string): Promise<FleetRun | undefined> {
  return (await listActiveRuns(store, session))[0];
}

/** Throws 409 if a session has an active run: two runs, or a run and an edit, must not change its history at once. */
export async function assertNoActiveRun(
  store: Pick<ScopedStore, 'queue'>,
  session: string,
  hint: string,
): Promise<void> {
  const active = await findActiveRun(store, session);
  if (active)
    throw createHttpError('server/conflict', `Run ${active.id} is ${active.status} in this session.`, { hint });
}

/** Sends a message to the active run of a session, and wakes the run if it waits; throws 409 if there is none, and 404 if there is no such session. */
export async function sendToSession(
  store: Pick<ScopedStore, 'queue' | 'inbox' | 'sessions'>,
  session: string,
  message: InboxMessage,
): Promise<FleetRun> {
  const run = await findActiveRun(store, session);
  // The run may end before the message is stored: sendMessage then returns false.
  if (run && (await sendMessage(store, session, message))) return run;
  await assertSessionExists(store, session);
  throw createHttpError('server/conflict', 'No active run in this session.', {
    hint: 'Start one with POST /api/runs and this session.',
  });
}

/** Opens a log with the model, tools and system prompt that it records, so that opening it writes no event. Views keep their state: an edit must not lose a label. */
export async function openOfflineSession(log: Log, views: readonly NamedView<unknown>[]): Promise<Session> {
  const state = await readSessionState(log);
  if (state.session === '') throw new FairleadError('store/no-session', 'The session is empty.', { blame: 'user' });
  return Session.open({ ...createOfflineParts(state), views }, log);
}

/** An agent without a model or tools that work. */
const createOfflineParts = ({
  system,
  model,
  modelOrigin,
  tools,
}: Pick<RunState, 'system' | 'model' | 'modelOrigin' | 'tools'>): ResolvedAgent => ({
  system,
  ...modelOrigin,
  provider: createOfflineProvider(model),
  tools: new Map(tools.map((spec): [string, Tool] => [spec.name, { ...spec, effect: 'read', execute: throwNoAgent }])),
  rules: [],
  reminders: [],
  gates: [],
  stops: [],
  checks: [],
  settings: {},
});

const throwNoAgent = (): never => {
  throw new FairleadError('server/no-agent', 'This session is open for reading and editing only.', {
    blame: 'harness',
  });
};

const createOfflineProvider = (model: string): Provider => ({ family: 'none', model, stream: throwNoAgent });
