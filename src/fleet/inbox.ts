// Letters on their way into a log: each is written down together with its place, so that no crash delivers one twice.
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

const inboxRemarkKey = 'inbox';

/** Up to where the letters of a session were read, and which run one of them cancelled. */
export type InboxCursor = { readonly session: string; readonly place: number; readonly cancelled?: string };

/** What a log says of the letters that were read into it. A fork has read none of its own. */
export const inboxView: NamedView<InboxCursor> = {
  name: 'inbox',
  initial: { session: '', place: 0 },
  on(reading, event) {
    if (event.type === 'session-started') return { session: event.session, place: 0 };
    if (event.type === 'epoch-started' && event.baseline && event.baseline.session !== reading.session)
      return { session: event.baseline.session, place: 0 };
    if (event.type !== 'annotation-added' || event.key !== inboxRemarkKey) return reading;
    const { place, cancelled } = isObject(event.value) ? event.value : { place: event.value };
    return {
      ...reading,
      ...(typeof place === 'number' ? { place: Math.max(reading.place, place) } : {}),
      ...(typeof cancelled === 'string' ? { cancelled } : {}),
    };
  },
  serialize: (reading) => reading,
  restore: (kept) => (isInboxCursor(kept) ? kept : undefined),
};

const isInboxCursor = (kept: unknown): kept is InboxCursor =>
  isObject(kept) && typeof kept['session'] === 'string' && typeof kept['place'] === 'number';

/** Ends a run that a letter has cancelled, whoever works on it by then. */
export const createCancelStop =
  (run: string): Stop =>
  (state) =>
    readView(state, inboxView).cancelled === run
      ? { reason: 'cancelled', detail: 'The run was cancelled by a letter.' }
      : undefined;

/** The letters of a session in a run. */
export type InboxTarget = {
  readonly inbox: Inbox;
  readonly session: Session;
  /** What the inbox knows the session by. */
  readonly sessionId: string;
  /** The run that a letter may cancel. */
  readonly runId: string;
};

/** Reads the letters that are there into the log, each once; may be called by several at a time. */
export async function drainInbox({ inbox, session, sessionId, runId }: InboxTarget): Promise<void> {
  const letters = await inbox.read(sessionId, readView(session.state, inboxView).place);
  for (const delivery of letters) {
    await session.record((state) => inboxMessageToFacts(delivery, state, runId));
    if (isCancellationOf(delivery.message, runId)) session.cancel();
  }
  if (letters.length > 0) await deleteReadMessages({ inbox, session, sessionId, runId });
}

/** Forgets the letters that were read before a crash could: they would look unread for ever. */
export async function deleteReadMessages({ inbox, session, sessionId }: InboxTarget): Promise<void> {
  const { place } = readView(session.state, inboxView);
  if (place > 0) await inbox.clear(sessionId, place);
}

/** Whether a letter cancels a run. One may end before it reads that it is cancelled: the one after it is not meant. */
export const isCancellationOf = (letter: InboxMessage, run: string): boolean =>
  letter.type === 'cancel' && (letter.run === undefined || letter.run === run);

/** The facts of a letter and its place; none where it was read already. */
function inboxMessageToFacts({ position, message }: InboxDelivery, state: RunState, run: string): readonly Fact[] {
  if (readView(state, inboxView).place >= position) return [];
  const value = isCancellationOf(message, run) ? { place: position, cancelled: run } : position;
  return [...messageContentFacts(message, position, state), { type: 'annotation-added', key: inboxRemarkKey, value }];
}

/** What a letter says to a session. An answer to no question that is open, or to other words than are open now, says nothing. */
function messageContentFacts(letter: InboxMessage, place: number, state: RunState): readonly Fact[] {
  switch (letter.type) {
    case 'prompt':
    case 'steer':
    case 'follow-up': {
      const parts = [{ type: 'text', text: letter.text }] as const;
      return [{ type: 'input-received', input: `letter-${place}`, how: letter.type, parts }];
    }
    case 'answer': {
      const { call, question, allowed, happened, by } = letter;
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
 * Sends a letter to a session: a worker that has it reads it at once, and a run that rests, or is about to, is woken to read it.
 * False where no run is there to read it; then it is taken back. Throws where the run that is there reads nothing.
 */
export async function sendMessage(
  store: Pick<FleetStore, 'inbox' | 'queue'>,
  session: string,
  letter: InboxMessage,
): Promise<boolean> {
  const [reader] = await listActiveRuns(store, session);
  if (reader && letter.type !== 'cancel' && letter.type !== 'ended') await assertAcceptsMessages(store, reader);
  const place = await store.inbox.send(session, letter);
  const live = await listActiveRuns(store, session);
  for (const { id } of live) await store.queue.wake(id);
  if (live.length === 0) await store.inbox.clear(session, place);
  return live.length > 0;
}
