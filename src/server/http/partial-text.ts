// What the turn under way has said, as a lookout shows it: after the event that began the turn, and not after one that settled it.
import type { Event, PartialText } from '../../core/index.ts';
import type { ReplayBuffer } from './replay-buffer.ts';
import { formatSseFrame } from './sse.ts';

/** The words of a session that are not settled. */
export type PartialTextBuffer = {
  /** Takes a piece; out of date, it is passed over; ahead of its turn, it waits for it. */
  append(text: PartialText): void;
  /** Where the events that are shown begin, and the seq up to which everything is settled. */
  setStart(tail: number, settled: number): void;
  /** To be told of an event before it is put on the shelf, and again after it. */
  beforeEvent(event: Event): void;
  afterEvent(event: Event): void;
  /** Takes back what was said: nobody is there to go on with it. */
  retract(): void;
  /** All that stands on the shelf of it, for those who come now; `again` where they may have heard some of it. */
  snapshot(again: boolean): string;
};

/** What was said in a turn, and how much of it is on the shelf. */
type TurnText = { readonly turn: number; readonly since: number; text: string; publishedLength: number };

/** A speech of which nothing was said yet. Nothing is shown before it is told where to begin. */
export function createPartialTextBuffer(shelf: ReplayBuffer): PartialTextBuffer {
  let saying: TurnText | undefined;
  /** Ahead of its turn. */
  let early: PartialText | undefined;
  let tail = -1;
  let settled = 0;
  let planned = false;

  const chunk = (text: Omit<PartialText, 'since'>): void =>
    shelf.append({ frame: formatSseFrame('chunk', text), provisional: true });

  /** What comes in one go is one frame, however many pieces it is. */
  function put(): void {
    planned = false;
    if (!saying || saying.publishedLength === saying.text.length) return;
    const { turn, text } = saying;
    chunk({ turn, text: text.slice(saying.publishedLength) });
    saying.publishedLength = text.length;
  }

  function drop(): void {
    const gone = saying;
    saying = undefined;
    if (gone && gone.publishedLength > 0) chunk({ turn: gone.turn, text: '', restarted: true });
  }

  function show({ turn, since, text, restarted }: PartialText): void {
    if (saying?.since !== since || restarted) drop();
    saying ??= { turn, since, text: '', publishedLength: 0 };
    saying.text += text;
    if (!planned) setImmediate(put);
    planned = true;
  }

  function release(): void {
    if (!early || early.since > tail) return;
    const text = early;
    early = undefined;
    if (text.since > settled) show(text);
  }

  return {
    append(text) {
      const latest = Math.max(early?.since ?? 0, saying?.since ?? 0);
      if (text.since <= settled || text.since < latest) return;
      if (text.since <= tail) return show(text);
      const goesOn = early?.since === text.since && !text.restarted;
      early = goesOn && early ? { ...early, text: early.text + text.text } : text;
    },
    setStart(from, upTo) {
      tail = from;
      settled = upTo;
      release();
    },
    beforeEvent(event) {
      put();
      // An attempt that was broken off leaves a turn without an end.
      if (event.type === 'turn-started' || event.type === 'run-ended') drop();
      if (event.type === 'turn-ended' || event.type === 'turn-failed') saying = undefined;
    },
    afterEvent(event) {
      tail = event.seq;
      if (event.type === 'turn-ended' || event.type === 'turn-failed' || event.type === 'run-ended')
        settled = event.seq;
      release();
    },
    retract() {
      settled = Math.max(settled, saying?.since ?? 0);
      drop();
    },
    snapshot(again) {
      if (!saying || saying.publishedLength === 0) return '';
      const { turn, text, publishedLength: until } = saying;
      return formatSseFrame('chunk', { turn, text: text.slice(0, until), ...(again ? { restarted: true } : {}) });
    },
  };
}
