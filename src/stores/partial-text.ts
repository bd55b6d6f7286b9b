// Pub/sub of partial model output. Local subscribers are called synchronously; other processes get batched messages while they subscribe.
import { randomBytes } from 'node:crypto';
import type { PartialTextChannel, PartialText } from '../core/index.ts';
import {
  parseBusPayload,
  packMessages,
  chunkChars,
  type MessageBus,
  type BusPayload,
  type CreateMessageBus,
  type TextChunk,
  type BusMessage,
} from './partial-text-protocol.ts';

/** Options of a channel. */
export type PartialTextOptions = {
  /** The minimum time between two flushes to other processes, in milliseconds; 75 by default. */
  readonly flushMs?: number;
  /** How often a subscription is renewed, in milliseconds; 10,000 by default. It expires after three times as long. */
  readonly renewMs?: number;
};

/** A channel that can be closed. */
export type OpenPartialTextChannel = PartialTextChannel & { close(): Promise<void> };

/** The text of a turn so far; `take` counts how often the turn was restarted. */
type TurnText = { readonly turn: number; readonly since: number; take: number; text: string };

/** The subscription of another process: when it expires, and which part of which text was sent to it. */
type PeerSubscription = { until: number; since: number; take: number; sent: number };

/** The maximum length of the text of a turn; subscribers get the rest with the event that ends the turn. */
const maxTurnChars = 262_144;
/** After a failed send the next flush waits so many times longer. */
const retryFactor = 10;
/** How many chunks one flush sends; the rest waits for the next one. */
const maxChunksPerFlush = 100;

/** Creates a channel on a message bus. */
export function createPartialTextChannel(
  createBus: CreateMessageBus,
  { flushMs = 75, renewMs = 10_000 }: PartialTextOptions = {},
): OpenPartialTextChannel {
  const ownId = randomBytes(8).toString('hex');
  const listeners = new Map<string, Set<(text: PartialText) => void>>();
  const published = new Map<string, TurnText>();
  const received = new Map<string, TurnText>();
  const subscriptions = new Map<string, Map<string, PeerSubscription>>();
  let retractions: TextChunk[] = [];
  /** Changes of the local subscriptions that other processes do not know yet; true: they must send the whole text of the turn. */
  let subscriptionChanges = new Map<string, boolean | 'unsubscribe'>();
  let mustDiscover = false;
  let timer: NodeJS.Timeout | undefined;
  let renewal: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();
  let closed = false;
  const bus: MessageBus = createBus(ownId, receive);

  const updateListening = (): void => bus.setListening(!closed && (listeners.size > 0 || published.size > 0));

  function notifyLocal(session: string, text: PartialText): void {
    for (const listener of listeners.get(session) ?? [])
      try {
        listener(text);
      } catch {
        // An error of one listener must not reach the publisher or other listeners.
      }
  }

  function scheduleFlush(delayMs = flushMs): void {
    if (!closed) timer ??= setTimeout(() => void (flushing = flush()), delayMs).unref();
  }

  async function flush(): Promise<void> {
    const messages = [...createSubscriptionMessages(), ...createTextMessages()];
    const isSent = messages.length === 0 || (await bus.send(messages).then(isTrue, isFalse));
    timer = undefined;
    if (!isSent) markAllUnsent();
    if (hasUnsent()) scheduleFlush(isSent ? flushMs : flushMs * retryFactor);
  }

  /** After a failed send it is not known which messages arrived. All is sent again; a receiver skips what it has. */
  function markAllUnsent(): void {
    for (const session of listeners.keys()) subscriptionChanges.set(session, true);
    mustDiscover = true;
    for (const peers of subscriptions.values()) for (const subscription of peers.values()) subscription.sent = 0;
  }

  function createSubscriptionMessages(): readonly BusMessage[] {
    const select = (change: boolean | 'unsubscribe'): string[] =>
      [...subscriptionChanges].flatMap(([session, each]) => (each === change ? [session] : []));
    const subscribe = (whole: boolean): readonly string[] =>
      packMessages(select(whole), (sessions) => ({ type: 'subscribe', from: ownId, whole, sessions }));
    const unsubscribe = packMessages(select('unsubscribe'), (sessions) => ({
      type: 'unsubscribe',
      from: ownId,
      sessions,
    }));
    const discover = mustDiscover
      ? [JSON.stringify({ type: 'query-subscriptions', from: ownId } satisfies BusPayload)]
      : [];
    const messages = [...subscribe(true), ...subscribe(false), ...unsubscribe, ...discover];
    subscriptionChanges = new Map();
    mustDiscover = false;
    return messages.map((text) => ({ text }));
  }

  function createTextMessages(): readonly BusMessage[] {
    const chunksByPeer = new Map<string, TextChunk[]>();
    let count = 0;
    for (const [peer, chunk] of unsentChunks()) {
      chunksByPeer.set(peer, [...(chunksByPeer.get(peer) ?? []), chunk]);
      if (++count === maxChunksPerFlush) break;
    }
    return [...chunksByPeer].flatMap(([peer, chunks]) =>
      packMessages(chunks, (chunks) => ({ type: 'text', chunks })).map((text) => ({ to: peer, text })),
    );
  }

  function* unsentChunks(): Generator<readonly [peer: string, chunk: TextChunk]> {
    const retracted = retractions;
    retractions = [];
    for (const chunk of retracted)
      for (const peer of subscriptions.get(chunk.session)?.keys() ?? []) yield [peer, chunk];
    for (const [session, peers] of subscriptions) {
      const turnText = published.get(session);
      if (!turnText) continue;
      removeExpired(session, peers);
      for (const [peer, subscription] of peers)
        for (;;) {
          const chunk = nextTextChunk(session, turnText, subscription);
          if (!chunk) break;
          yield [peer, chunk];
        }
    }
  }

  function removeExpired(session: string, peers: Map<string, PeerSubscription>): void {
    for (const [peer, { until }] of peers) if (until < performance.now()) peers.delete(peer);
    if (peers.size === 0) subscriptions.delete(session);
  }

  const hasUnsent = (): boolean =>
    subscriptionChanges.size > 0 ||
    mustDiscover ||
    retractions.length > 0 ||
    [...subscriptions].some(([session, peers]) => {
      const turnText = published.get(session);
      return turnText !== undefined && [...peers.values()].some((each) => isMissingText(turnText, each));
    });

  function receive(text: string | undefined): void {
    if (closed) return;
    if (text === undefined) {
      for (const session of listeners.keys()) subscriptionChanges.set(session, true);
      mustDiscover = true;
      return scheduleFlush();
    }
    const payload = parseBusPayload(text);
    if (!payload || ('from' in payload && payload.from === ownId)) return;
    if (payload.type === 'text') for (const chunk of payload.chunks) receiveChunk(chunk);
    else if (payload.type === 'query-subscriptions') renewSubscriptions();
    else {
      for (const session of payload.sessions) updateSubscription(session, payload);
      for (const [session, peers] of subscriptions) removeExpired(session, peers);
    }
  }

  function updateSubscription(
    session: string,
    payload: BusPayload & { readonly type: 'subscribe' | 'unsubscribe' },
  ): void {
    const peers = subscriptions.get(session) ?? new Map<string, PeerSubscription>();
    if (payload.type === 'unsubscribe') {
      peers.delete(payload.from);
      return void (peers.size === 0 && subscriptions.delete(session));
    }
    const known = payload.whole ? undefined : peers.get(payload.from);
    const subscription = known ?? { until: 0, since: 0, take: 0, sent: 0 };
    subscription.until = performance.now() + 3 * renewMs;
    subscriptions.set(session, peers.set(payload.from, subscription));
    if (published.has(session)) scheduleFlush();
  }

  /** Skips text that was received before. If a part is missing, asks for the whole text. */
  function receiveChunk({ session, turn, since, take, at, text }: TextChunk): void {
    if (!listeners.has(session)) return;
    const known = received.get(session);
    const isOutdated = known && (since < known.since || (since === known.since && take < known.take));
    if (isOutdated || at + text.length > maxTurnChars) return;
    const isSame = known?.since === since && known.take === take;
    const turnText = isSame ? known : { turn, since, take, text: '' };
    if (at > turnText.text.length) {
      subscriptionChanges.set(session, true);
      return scheduleFlush();
    }
    const added = text.slice(turnText.text.length - at);
    turnText.text += added;
    received.set(session, turnText);
    const isRestarted = !isSame && known?.since === since;
    if (added !== '' || isRestarted)
      notifyLocal(session, { turn, since, text: added, ...(isRestarted ? { restarted: true } : {}) });
  }

  /** Announces all local subscriptions again, before they expire in other processes. */
  function renewSubscriptions(): void {
    for (const session of listeners.keys())
      if (!subscriptionChanges.has(session)) subscriptionChanges.set(session, false);
    if (subscriptionChanges.size > 0) scheduleFlush();
  }

  function unsubscribe(session: string, listener: (text: PartialText) => void): void {
    const sessionListeners = listeners.get(session);
    if (!sessionListeners?.delete(listener) || sessionListeners.size > 0) return;
    listeners.delete(session);
    received.delete(session);
    subscriptionChanges.set(session, 'unsubscribe');
    if (listeners.size === 0) clearInterval(renewal);
    scheduleFlush();
    updateListening();
  }

  return {
    publish(session, { turn, since, text, restarted }) {
      if (closed) return;
      const known = published.get(session);
      const turnText = known?.since === since ? known : { turn, since, take: 0, text: '' };
      const added = text.slice(0, Math.max(0, maxTurnChars - (restarted ? 0 : turnText.text.length)));
      if (restarted) Object.assign(turnText, { take: turnText.take + 1, text: '' });
      turnText.text += added;
      published.set(session, turnText);
      if (!known) updateListening();
      if (added !== '' || restarted)
        notifyLocal(session, { turn, since, text: added, ...(restarted ? { restarted } : {}) });
      if (subscriptions.has(session)) scheduleFlush();
    },
    commit(session) {
      if (published.delete(session)) updateListening();
    },
    discard(session) {
      const turnText = published.get(session);
      if (!turnText) return;
      published.delete(session);
      const { turn, since, take } = turnText;
      notifyLocal(session, { turn, since, text: '', restarted: true });
      if (subscriptions.has(session)) retractions.push({ session, turn, since, take: take + 1, at: 0, text: '' });
      if (retractions.length > 0) scheduleFlush();
      updateListening();
    },
    subscribe(session, listener) {
      const sessionListeners = listeners.get(session) ?? new Set();
      if (listeners.size === 0) renewal = setInterval(renewSubscriptions, renewMs).unref();
      if (sessionListeners.size === 0) {
        subscriptionChanges.set(session, true);
        scheduleFlush();
      }
      // Each call is a subscription of its own, even with the same function.
      const ownListener = (text: PartialText): void => listener(text);
      listeners.set(session, sessionListeners.add(ownListener));
      updateListening();
      for (const turnText of [received.get(session), published.get(session)])
        if (turnText?.text) listener({ turn: turnText.turn, since: turnText.since, text: turnText.text });
      return () => unsubscribe(session, ownListener);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      clearInterval(renewal);
      for (const session of listeners.keys()) subscriptionChanges.set(session, 'unsubscribe');
      await flushing;
      if (hasUnsent()) await flush();
      bus.setListening(false);
    },
  };
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;

const isMissingText = ({ since, take, text }: TurnText, subscription: PeerSubscription): boolean =>
  subscription.since !== since || subscription.take !== take || subscription.sent < text.length;

/** The next chunk that a subscriber has not got, and marks it as sent; a restart is a chunk of its own. */
function nextTextChunk(session: string, turnText: TurnText, subscription: PeerSubscription): TextChunk | undefined {
  const { turn, since, take, text } = turnText;
  if (!isMissingText(turnText, subscription)) return undefined;
  if (subscription.since !== since || subscription.take !== take) Object.assign(subscription, { since, take, sent: 0 });
  const at = subscription.sent;
  const chunk = { session, turn, since, take, at, text: text.slice(at, at + chunkChars) };
  subscription.sent += chunk.text.length;
  return chunk;
}
