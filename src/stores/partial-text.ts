// Words that are not settled, between the processes of a store: told here at once, elsewhere in few letters, and only while somebody there listens.
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

/** How the words of a store are told; what is absent is as usual. */
export type PartialTextOptions = {
  /** Milliseconds between two letters. */
  readonly flushMs?: number;
  /** Milliseconds after which a listener says again that it listens; after three of them without a word it is thought dead. */
  readonly renewMs?: number;
};

/** The words of a store, until they are closed. */
export type OpenPartialTextChannel = PartialTextChannel & { close(): Promise<void> };

/** What a turn has said so far. */
type TurnText = { readonly turn: number; readonly since: number; take: number; text: string };

/** Another process that listens to a session, and how much of which voice it was told. */
type PeerSubscription = { until: number; since: number; take: number; sent: number };

/** Characters of a turn that are told before it is settled; the rest comes with what settles it. */
const maxTurnChars = 262_144;
/** Pieces at a time: what is left waits for the next time. */
const maxChunksPerFlush = 100;

/** Tells words by a bus. */
export function createPartialTextChannel(
  makeBus: CreateMessageBus,
  { flushMs = 75, renewMs = 10_000 }: PartialTextOptions = {},
): OpenPartialTextChannel {
  const me = randomBytes(8).toString('hex');
  const ears = new Map<string, Set<(text: PartialText) => void>>();
  const spoken = new Map<string, TurnText>();
  const heard = new Map<string, TurnText>();
  const wants = new Map<string, Map<string, PeerSubscription>>();
  let hushed: TextChunk[] = [];
  /** What the others have to be told of who listens here; true: the whole of what is being said is wanted. */
  let news = new Map<string, boolean | 'gone'>();
  let asks = false;
  let timer: NodeJS.Timeout | undefined;
  let renewal: NodeJS.Timeout | undefined;
  let telling = Promise.resolve();
  let closed = false;
  const bus: MessageBus = makeBus(me, hear);

  const attend = (): void => bus.setListening(!closed && (ears.size > 0 || spoken.size > 0));

  function tellHere(session: string, text: PartialText): void {
    for (const each of ears.get(session) ?? [])
      try {
        each(text);
      } catch {
        // Who speaks, and who else listens, did nothing wrong.
      }
  }

  function soon(): void {
    if (!closed) timer ??= setTimeout(() => void (telling = tell()), flushMs).unref();
  }

  async function tell(): Promise<void> {
    const letters = [...newsLetters(), ...wordLetters()];
    // What is lost on the way is asked for by who misses it.
    if (letters.length > 0) await bus.send(letters).catch(() => {});
    timer = undefined;
    if (isBehind()) soon();
  }

  function newsLetters(): readonly BusMessage[] {
    const some = (which: boolean | 'gone'): string[] => [...news].flatMap(([name, as]) => (as === which ? [name] : []));
    const listening = (whole: boolean): readonly string[] =>
      packMessages(some(whole), (sessions) => ({ type: 'listening', from: me, whole, sessions }));
    const gone = packMessages(some('gone'), (sessions) => ({ type: 'gone', from: me, sessions }));
    const letters = [...listening(true), ...listening(false), ...gone, ...(asks ? [asking] : [])];
    news = new Map();
    asks = false;
    return letters.map((text) => ({ text }));
  }

  const asking = JSON.stringify({ type: 'who', from: me } satisfies BusPayload);

  /** What the others have not been told, as far as one time goes. */
  function wordLetters(): readonly BusMessage[] {
    const to = new Map<string, TextChunk[]>();
    let count = 0;
    for (const [peer, piece] of untold()) {
      to.set(peer, [...(to.get(peer) ?? []), piece]);
      if (++count === maxChunksPerFlush) break;
    }
    return [...to].flatMap(([peer, pieces]) =>
      packMessages(pieces, (some) => ({ type: 'said', pieces: some })).map((text) => ({ to: peer, text })),
    );
  }

  function* untold(): Generator<readonly [peer: string, piece: TextChunk]> {
    const given = hushed;
    hushed = [];
    for (const piece of given) for (const peer of wants.get(piece.session)?.keys() ?? []) yield [peer, piece];
    for (const [session, peers] of wants) {
      const voice = spoken.get(session);
      if (!voice) continue;
      dropSilent(session, peers);
      for (const [peer, want] of peers)
        for (let piece = nextTextChunk(session, voice, want); piece; piece = nextTextChunk(session, voice, want))
          yield [peer, piece];
    }
  }

  function dropSilent(session: string, peers: Map<string, PeerSubscription>): void {
    for (const [peer, { until }] of peers) if (until < performance.now()) peers.delete(peer);
    if (peers.size === 0) wants.delete(session);
  }

  const isBehind = (): boolean =>
    news.size > 0 ||
    asks ||
    hushed.length > 0 ||
    [...wants].some(([session, peers]) => {
      const voice = spoken.get(session);
      return voice !== undefined && [...peers.values()].some((want) => isMissingText(voice, want));
    });

  function hear(text: string | undefined): void {
    if (closed) return;
    if (text === undefined) {
      for (const session of ears.keys()) news.set(session, true);
      asks = true;
      return soon();
    }
    const mail = parseBusPayload(text);
    if (!mail || ('from' in mail && mail.from === me)) return;
    if (mail.type === 'said') for (const piece of mail.pieces) take(piece);
    else if (mail.type === 'who') renew();
    else {
      for (const session of mail.sessions) note(session, mail);
      for (const [session, peers] of wants) dropSilent(session, peers);
    }
  }

  function note(session: string, mail: BusPayload & { readonly type: 'listening' | 'gone' }): void {
    const peers = wants.get(session) ?? new Map<string, PeerSubscription>();
    if (mail.type === 'gone') {
      peers.delete(mail.from);
      return void (peers.size === 0 && wants.delete(session));
    }
    const before = mail.whole ? undefined : peers.get(mail.from);
    const want = before ?? { until: 0, since: 0, take: 0, sent: 0 };
    want.until = performance.now() + 3 * renewMs;
    wants.set(session, peers.set(mail.from, want));
    if (spoken.has(session)) soon();
  }

  /** Takes what others say. What was told is passed over; where something is missing the whole is asked for. */
  function take({ session, turn, since, take: begun, at, text }: TextChunk): void {
    if (!ears.has(session)) return;
    const before = heard.get(session);
    const isOld = before && (since < before.since || (since === before.since && begun < before.take));
    if (isOld || at + text.length > maxTurnChars) return;
    const goesOn = before?.since === since && before.take === begun;
    const voice = goesOn ? before : { turn, since, take: begun, text: '' };
    if (at > voice.text.length) {
      news.set(session, true);
      return soon();
    }
    const fresh = text.slice(voice.text.length - at);
    voice.text += fresh;
    heard.set(session, voice);
    const again = !goesOn && before?.since === since;
    if (fresh !== '' || again) tellHere(session, { turn, since, text: fresh, ...(again ? { restarted: true } : {}) });
  }

  /** Says again who listens here: a listener that says nothing for long is thought dead. */
  function renew(): void {
    for (const session of ears.keys()) if (!news.has(session)) news.set(session, false);
    if (news.size > 0) soon();
  }

  function leave(session: string, ear: (text: PartialText) => void): void {
    const all = ears.get(session);
    if (!all?.delete(ear) || all.size > 0) return;
    ears.delete(session);
    heard.delete(session);
    news.set(session, 'gone');
    if (ears.size === 0) clearInterval(renewal);
    soon();
    attend();
  }

  return {
    publish(session, { turn, since, text, restarted }) {
      if (closed) return;
      const before = spoken.get(session);
      const voice = before?.since === since ? before : { turn, since, take: 0, text: '' };
      const fresh = text.slice(0, Math.max(0, maxTurnChars - (restarted ? 0 : voice.text.length)));
      if (restarted) Object.assign(voice, { take: voice.take + 1, text: '' });
      voice.text += fresh;
      spoken.set(session, voice);
      if (!before) attend();
      if (fresh !== '' || restarted)
        tellHere(session, { turn, since, text: fresh, ...(restarted ? { restarted } : {}) });
      if (wants.has(session)) soon();
    },
    commit(session) {
      if (spoken.delete(session)) attend();
    },
    discard(session) {
      const voice = spoken.get(session);
      if (!voice) return;
      spoken.delete(session);
      const { turn, since } = voice;
      tellHere(session, { turn, since, text: '', restarted: true });
      if (wants.has(session)) hushed.push({ session, turn, since, take: voice.take + 1, at: 0, text: '' });
      if (hushed.length > 0) soon();
      attend();
    },
    subscribe(session, ear) {
      const all = ears.get(session) ?? new Set();
      if (ears.size === 0) renewal = setInterval(renew, renewMs).unref();
      if (all.size === 0) {
        news.set(session, true);
        soon();
      }
      // Each call is a listener of its own, also where the same function is given twice.
      const mine = (text: PartialText): void => ear(text);
      ears.set(session, all.add(mine));
      attend();
      for (const voice of [heard.get(session), spoken.get(session)])
        if (voice?.text) ear({ turn: voice.turn, since: voice.since, text: voice.text });
      return () => leave(session, mine);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      clearInterval(renewal);
      for (const session of ears.keys()) news.set(session, 'gone');
      await telling;
      if (isBehind()) await tell();
      bus.setListening(false);
    },
  };
}

const isMissingText = ({ since, take, text }: TurnText, want: PeerSubscription): boolean =>
  want.since !== since || want.take !== take || want.sent < text.length;

/** The next piece of a voice that somebody was not told; that it was begun again is one too. */
function nextTextChunk(session: string, voice: TurnText, want: PeerSubscription): TextChunk | undefined {
  const { turn, since, take, text } = voice;
  if (!isMissingText(voice, want)) return undefined;
  if (want.since !== since || want.take !== take) Object.assign(want, { since, take, sent: 0 });
  const piece = { session, turn, since, take, at: want.sent, text: text.slice(want.sent, want.sent + chunkChars) };
  want.sent += piece.text.length;
  return piece;
}
