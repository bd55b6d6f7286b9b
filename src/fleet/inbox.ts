// Records inbox messages in the log of a session, each with its position, so that a crash delivers no message twice.
import type { Session } from '../agent/index.ts';
import {
  isObject,
  readView,
  type InboxDelivery,
  type Fact,
  type FleetStore,
  type Inbox,
  type InboxMessage,
  type NamedView,
  type RunState,
  type Stop,
} from '../core/index.ts';
import { listActiveRuns, assertAcceptsMessages } from './message-targets.ts';

const inboxAnnotationKey = 'inbox';

/** The position up to which the messages of a session were read, and the run that one of them cancelled. `place` is the position as logs store it. */
export type InboxCursor = { readonly session: string; readonly place: number; readonly cancelled?: string };

/** The inbox position of a session, folded from its log. A fork starts at position 0 of its own inbox. */
export const inboxView: NamedView<InboxCursor> = {
  name: 'inbox',
  initial: { session: '', place: 0 },
  on(cursor, event) {
    if (event.type === 'session-started') return { session: event.session, place: 0 };
    if (event.type === 'epoch-started' && event.baseline && event.baseline.session !== cursor.session)
      return { session: event.baseline.session, place: 0 };
    if (event.type !== 'annotation-added' || event.key !== inboxAnnotationKey) return cursor;
    const { place, cancelled } = isObject(event.value) ? event.value : { place: event.value };
    return {
      ...cursor,
      ...(typeof place === 'number' ? { place: Math.max(cursor.place, place) } : {}),
      ...(typeof cancelled === 'string' ? { cancelled } : {}),
    };
  },
  serialize: (cursor) => cursor,
  restore: (value) => (isInboxCursor(value) ? value : undefined),
};

const isInboxCursor = (value: unknown): value is InboxCursor =>
  isObject(value) && typeof value['session'] === 'string' && typeof value['place'] === 'number';

/** A stop condition that ends a run if a message cancelled it, on whichever worker it runs by then. */
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
};

/** Records the messages that are in the inbox, each once. Concurrent calls are safe. */
export async function drainInbox({ inbox, session, sessionId, runId }: InboxTarget): Promise<void> {
  const deliveries = await inbox.read(sessionId, readView(session.state, inboxView).place);
  for (const delivery of deliveries) {
    await session.record((state) => inboxMessageToFacts(delivery, state, runId));
    if (isCancellationOf(delivery.message, runId)) session.cancel();
  }
  if (deliveries.length > 0) await deleteReadMessages({ inbox, session, sessionId, runId });
}

/** Deletes the messages that are in the log: after a crash they would stay in the inbox as unread. */
export async function deleteReadMessages({ inbox, session, sessionId }: InboxTarget): Promise<void> {
  const { place } = readView(session.state, inboxView);
  if (place > 0) await inbox.clear(sessionId, place);
}

/** Whether a message cancels this run. A message that names another run does not: that run may have ended before it read the message. */
export const isCancellationOf = (message: InboxMessage, run: string): boolean =>
  message.type === 'cancel' && (message.run === undefined || message.run === run);

/** The facts of a message and its position; none if it was read already. */
function inboxMessageToFacts({ position, message }: InboxDelivery, state: RunState, run: string): readonly Fact[] {
  if (readView(state, inboxView).place >= position) return [];
  const value = isCancellationOf(message, run) ? { place: position, cancelled: run } : position;
  return [
    ...messageContentFacts(message, position, state),
    { type: 'annotation-added', key: inboxAnnotationKey, value },
  ];
}

/** The facts of a message. An answer is ignored if no approval is pending for the call, or if its question has changed. */
function messageContentFacts(message: InboxMessage, position: number, state: RunState): readonly Fact[] {
  switch (message.type) {
    case 'prompt':
    case 'steer':
    case 'follow-up': {
      const parts = [{ type: 'text', text: message.text }] as const;
      return [{ type: 'input-received', input: `letter-${position}`, how: message.type, parts }];
    }
    case 'answer': {
      const { call, question, allowed, happened, by } = message;
      const { ask } = state.calls.find((each) => each.id === call && !each.result) ?? {};
      if (!ask || ask.allowed !== undefined || (question !== undefined && question !== ask.question)) return [];
      const more = { ...(happened ? { happened } : {}), ...(by === undefined ? {} : { by }) };
      return [{ type: 'approval-resolved', call, allowed, ...more }];
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
  store: Pick<FleetStore, 'inbox' | 'queue'>,
  session: string,
  message: InboxMessage,
): Promise<boolean> {
  const [reader] = await listActiveRuns(store, session);
  if (reader && message.type !== 'cancel' && message.type !== 'ended') await assertAcceptsMessages(store, reader);
  const position = await store.inbox.send(session, message);
  const active = await listActiveRuns(store, session);
  for (const { id } of active) await store.queue.wake(id);
  if (active.length === 0) await store.inbox.clear(session, position);
  return active.length > 0;
}
