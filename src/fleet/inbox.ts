// Inbox of a session: sends messages to its active run, notifies a worker of new messages, and records each message in the log once.
import type { Session } from '../agent/index.ts';
import {
  errorMessage,
  isObject,
  pendingApprovals,
  readView,
  sleepOn,
  systemPort,
  type InboxDelivery,
  type Fact,
  type RunQueue,
  type Inbox,
  type InboxMessage,
  type NamedView,
  type PendingApproval,
  type ProcessPort,
  type RunState,
  type Stop,
  FairleadError,
  type FleetRun,
} from '../core/index.ts';
import { consentCall } from './plan/consent.ts';

const inboxAnnotationKey = 'inbox';

/** The position up to which the messages of a session were read, and the run that one of them cancelled. */
export type InboxCursor = { readonly session: string; readonly position: number; readonly cancelled?: string };

/** The inbox position of a session, folded from its log. A fork starts at position 0 of its own inbox. */
export const inboxView: NamedView<InboxCursor> = {
  name: 'inbox',
  initial: { session: '', position: 0 },
  on(cursor, event) {
    if (event.type === 'session-started') return { session: event.session, position: 0 };
    if (event.type === 'epoch-started' && event.baseline && event.baseline.session !== cursor.session)
      return { session: event.baseline.session, position: 0 };
    if (event.type !== 'annotation-added' || event.key !== inboxAnnotationKey) return cursor;
    const { place: position, cancelled } = isObject(event.value) ? event.value : { place: event.value };
    return {
      ...cursor,
      ...(typeof position === 'number' ? { position: Math.max(cursor.position, position) } : {}),
      ...(typeof cancelled === 'string' ? { cancelled } : {}),
    };
  },
  serialize: ({ session, position, ...rest }) => ({ session, place: position, ...rest }),
  restore: parseStoredCursor,
};

/** Parses a cursor from a log, where the position is stored as `place`. */
function parseStoredCursor(value: unknown): InboxCursor | undefined {
  if (!isObject(value)) return undefined;
  const { session, place: position, cancelled } = value;
  if (typeof session !== 'string' || typeof position !== 'number') return undefined;
  return { session, position, ...(typeof cancelled === 'string' ? { cancelled } : {}) };
}

/** A stop condition that ends a run if a message cancelled it, whichever worker runs it by then. */
export const createCancelStop =
  (run: string): Stop =>
  (state) =>
    readView(state, inboxView).cancelled === run
      ? { reason: 'cancelled', detail: 'The run was cancelled.' }
      : undefined;

/** A session of a run, and its inbox. */
export type InboxTarget = {
  readonly inbox: Inbox;
  readonly session: Session;
  /** The id of the session in the inbox. */
  readonly sessionId: string;
  /** The run that a message may cancel. */
  readonly runId: string;
  /** Grants what an answer allows besides its call, and returns the facts that record it. */
  readonly grantScope?: (pending: PendingApproval, scope: string) => Promise<readonly Fact[]>;
};

/** Records the messages that are in the inbox, each once. Concurrent calls are safe. */
export async function drainInbox({ inbox, session, sessionId, runId, grantScope }: InboxTarget): Promise<void> {
  const deliveries = await inbox.read(sessionId, readView(session.state, inboxView).position);
  for (const delivery of deliveries) {
    const granted = grantScope ? await grantAnswerScope(delivery.message, session.state, runId, grantScope) : [];
    await session.record((state) => {
      const facts = inboxMessageToFacts(delivery, state, runId);
      return facts.some(({ type }) => type === 'approval-resolved') ? [...facts, ...granted] : facts;
    });
    if (isCancellationOf(delivery.message, runId)) session.cancel();
  }
  if (deliveries.length > 0) await deleteReadMessages({ inbox, session, sessionId, runId });
}

/** Grants the scope of an answer, if the answer counts. */
async function grantAnswerScope(
  message: InboxMessage,
  state: RunState,
  run: string,
  grantScope: NonNullable<InboxTarget['grantScope']>,
): Promise<readonly Fact[]> {
  if (message.type !== 'answer' || !message.allowed || message.scope === undefined || isForOtherRun(message, run))
    return [];
  const pending = pendingApprovals(state).find(({ id }) => id === message.call);
  const isSame = pending && (message.question === undefined || message.question === pending.question);
  if (!isSame || pending.kind !== undefined) return [];
  try {
    return await grantScope(pending, message.scope);
  } catch (error) {
    // The answer counts for its call. It must not stay first in the inbox and block later messages.
    const warning = `Only this call was allowed, because the scope could not be granted: ${errorMessage(error)}`;
    return [{ type: 'annotation-added', key: 'grant', value: { warning } }];
  }
}

/** Deletes the messages that are in the log: after a crash they would stay in the inbox as unread. */
export async function deleteReadMessages({ inbox, session, sessionId }: InboxTarget): Promise<void> {
  const { position } = readView(session.state, inboxView);
  if (position > 0) await inbox.clear(sessionId, position);
}

/** Whether a message cancels this run. A message that names another run does not: that run may have ended before it read the message. */
export const isCancellationOf = (message: InboxMessage, run: string): boolean =>
  message.type === 'cancel' && message.step === undefined && (message.run === undefined || message.run === run);

/** The facts of a message and its position; none if it was read already. */
function inboxMessageToFacts({ position, message }: InboxDelivery, state: RunState, run: string): readonly Fact[] {
  if (readView(state, inboxView).position >= position) return [];
  const value = isCancellationOf(message, run) ? { place: position, cancelled: run } : position;
  return [
    ...(isForOtherRun(message, run) ? [] : messageContentFacts(message, position, state)),
    { type: 'annotation-added', key: inboxAnnotationKey, value },
  ];
}

/** Whether a message names another run, or a step of a plan: its sender may have no right to send words to this one. */
const isForOtherRun = (message: InboxMessage, run: string): boolean =>
  message.type !== 'ended' &&
  ((message.run !== undefined && message.run !== run) || ('step' in message && message.step !== undefined));

/** The id of the input that a message becomes. Logs store it, so its format stays. */
const formatInputId = (position: number): string => `letter-${position}`;

/** The facts of a message. An answer is ignored if no approval is pending for the call, or if its question has changed. */
function messageContentFacts(message: InboxMessage, position: number, state: RunState): readonly Fact[] {
  switch (message.type) {
    case 'prompt':
    case 'steer':
    case 'follow-up': {
      const parts = [{ type: 'text', text: message.text }] as const;
      return [{ type: 'input-received', input: formatInputId(position), how: message.type, parts }];
    }
    case 'answer': {
      const { call, question, allowed, happened, reason, by } = message;
      const { ask } = state.calls.find((each) => each.id === call && !each.result) ?? {};
      if (!ask || ask.allowed !== undefined || (question !== undefined && question !== ask.question)) return [];
      const optionalFields = {
        ...(happened ? { happened } : {}),
        ...(by === undefined ? {} : { by }),
        ...(reason === undefined || allowed ? {} : { reason }),
      };
      return [{ type: 'approval-resolved', call, allowed, ...optionalFields }];
    }
    case 'cancel':
    case 'ended':
      return [];
  }
}

/**
 * Sends a message to the active run of a session, and wakes the run if it waits. Returns false, and deletes the message, if there is no
 * active run. Throws if the run does not accept messages.
 */
export async function sendMessage(
  store: { readonly inbox: Pick<Inbox, 'send' | 'read' | 'clear'>; readonly queue: Pick<RunQueue, 'list' | 'wake'> },
  session: string,
  message: InboxMessage,
): Promise<boolean> {
  const [reader] = await listActiveRuns(store, session);
  if (reader && message.type !== 'cancel' && message.type !== 'ended')
    await assertAcceptsMessages(store, reader, message);
  const position = await store.inbox.send(session, message);
  const active = await listActiveRuns(store, session);
  for (const { id } of active) await store.queue.wake(id);
  // A run that ended before it was woken has perhaps not read the message.
  const isAccepted =
    active.length > 0 &&
    ((await listActiveRuns(store, session)).length > 0 || !(await isUnread(store.inbox, session, position)));
  if (!isAccepted) await store.inbox.clear(session, position);
  return isAccepted;
}

const isUnread = async (inbox: Pick<Inbox, 'read'>, session: string, position: number): Promise<boolean> =>
  (await inbox.read(session, position - 1)).some((delivery) => delivery.position === position);

type Store = { readonly queue: Pick<RunQueue, 'list'> };

/** Returns the runs of a session that have not ended: the started run first, then the queued ones in order. */
export async function listActiveRuns({ queue }: Store, session: string): Promise<readonly FleetRun[]> {
  const active = (await queue.list({ session })).filter(({ status }) => status !== 'ended').toReversed();
  return [...active.filter(({ started }) => started), ...active.filter(({ started }) => !started)];
}

/** Kinds of runs that only start child runs: they have no conversation that could read a message. */
const kindsWithoutInbox: Readonly<Record<string, string>> = { plan: 'a plan run', verify: 'a verification run' };

/** Throws if a run does not accept messages; the hint names its child runs, which do. A plan accepts messages to its steps, and the answer to its own question. */
export async function assertAcceptsMessages(
  { queue }: Store,
  { id, kind }: FleetRun,
  message?: InboxMessage,
): Promise<void> {
  if (kind === 'plan' && message !== undefined && 'step' in message && message.step !== undefined) return;
  if (kind === 'plan' && message?.type === 'answer' && message.call === consentCall) return;
  const description = Object.hasOwn(kindsWithoutInbox, kind) ? kindsWithoutInbox[kind] : undefined;
  if (description === undefined) return;
  const children = (await queue.list({ parent: id })).filter(({ status }) => status !== 'ended');
  const names = children.map((run) => run.id).toReversed();
  throw new FairleadError('fleet/no-inbox', `${id} is ${description} and does not accept messages.`, {
    blame: 'user',
    hint:
      names.length > 0
        ? `Message one of its child runs (${names.slice(0, 5).join(', ')}), or cancel it.`
        : 'Message its child runs when they have started, or cancel it.',
  });
}

/** Notifies subscribers of new messages until it is closed. */
export type InboxDispatcher = {
  /** Calls the listener when the session has a new message, until the returned function is called. */
  subscribe(session: string, listener: () => void): () => void;
  close(): Promise<void>;
};

/** Starts to watch an inbox. */
export function createInboxDispatcher(inbox: Inbox, port: Pick<ProcessPort, 'timer'> = systemPort): InboxDispatcher {
  const listeners = new Map<string, Set<() => void>>();
  const closed = new AbortController();

  async function watch(): Promise<void> {
    while (!closed.signal.aborted) {
      try {
        for await (const session of inbox.watch(closed.signal))
          for (const listener of listeners.get(session) ?? []) listener();
      } catch {
        // The store is unavailable. All listeners are called below, because messages may have been missed.
      }
      await sleepOn(port, 250, closed.signal);
      for (const sameSession of listeners.values()) for (const listener of sameSession) listener();
    }
  }

  const watching = watch();
  return {
    subscribe(session, listener) {
      const sameSession = listeners.get(session) ?? new Set();
      listeners.set(session, sameSession.add(listener));
      return () => {
        sameSession.delete(listener);
        if (sameSession.size === 0) listeners.delete(session);
      };
    },
    close() {
      closed.abort();
      return watching;
    },
  };
}
