// Partial text of the current turn: published after the event that started the turn, and never after the event that ended it.
import type { Event, PartialText } from '../../core/index.ts';
import type { ReplayBuffer, SessionMessage } from './replay-buffer.ts';

/** The partial text of a session. */
export type PartialTextBuffer = {
  /** Adds text. Text of an ended turn is dropped; text of a turn whose start event was not read yet is held until it is. */
  append(text: PartialText): void;
  /** Sets the last event that was read, and the last event that ended a turn. Nothing is published before. */
  setStart(lastSeq: number, lastTurnEnd: number): void;
  /** Must be called before an event is appended to the replay buffer, and `afterEvent` after it. */
  beforeEvent(event: Event): void;
  afterEvent(event: Event): void;
  /** Retracts the published text: the worker that wrote it was interrupted. */
  retract(): void;
  /** Returns all published text of the turn for a new subscriber; `isRepeated` if the subscriber may have seen some of it. */
  snapshot(isRepeated: boolean): readonly SessionMessage[];
};

/** The text of a turn, and how much of it was published. */
type TurnText = { readonly turn: number; readonly since: number; text: string; publishedLength: number };

/** Creates an empty buffer that publishes to a replay buffer. */
export function createPartialTextBuffer(buffer: ReplayBuffer): PartialTextBuffer {
  let current: TurnText | undefined;
  /** Text of a turn whose start event was not read yet. */
  let textBeforeTurnStart: PartialText | undefined;
  let lastSeq = -1;
  let lastTurnEnd = 0;
  let isPublishScheduled = false;

  /** Publishes all new text as one message, however many pieces it came in. */
  function publish(): void {
    isPublishScheduled = false;
    if (!current || current.publishedLength === current.text.length) return;
    const { turn, text } = current;
    buffer.append({ type: 'chunk', chunk: { turn, text: text.slice(current.publishedLength) } });
    current.publishedLength = text.length;
  }

  function drop(): void {
    const dropped = current;
    current = undefined;
    if (dropped && dropped.publishedLength > 0)
      buffer.append({ type: 'chunk', chunk: { turn: dropped.turn, text: '', restarted: true } });
  }

  function addText({ turn, since, text, restarted }: PartialText): void {
    if (current?.since !== since || restarted) drop();
    current ??= { turn, since, text: '', publishedLength: 0 };
    current.text += text;
    if (!isPublishScheduled) setImmediate(publish);
    isPublishScheduled = true;
  }

  function addHeldText(): void {
    if (!textBeforeTurnStart || textBeforeTurnStart.since > lastSeq) return;
    const text = textBeforeTurnStart;
    textBeforeTurnStart = undefined;
    if (text.since > lastTurnEnd) addText(text);
  }

  return {
    append(text) {
      const latest = Math.max(textBeforeTurnStart?.since ?? 0, current?.since ?? 0);
      if (text.since <= lastTurnEnd || text.since < latest) return;
      if (text.since <= lastSeq) return addText(text);
      const held = textBeforeTurnStart;
      const continues = held?.since === text.since && !text.restarted;
      textBeforeTurnStart = continues ? { ...held, text: held.text + text.text } : text;
    },
    setStart(startSeq, startTurnEnd) {
      lastSeq = startSeq;
      lastTurnEnd = startTurnEnd;
      addHeldText();
    },
    beforeEvent(event) {
      publish();
      // An interrupted attempt leaves a turn without an end event.
      if (event.type === 'turn-started' || event.type === 'run-ended') drop();
      if (event.type === 'turn-ended' || event.type === 'turn-failed') current = undefined;
    },
    afterEvent(event) {
      lastSeq = event.seq;
      if (event.type === 'turn-ended' || event.type === 'turn-failed' || event.type === 'run-ended')
        lastTurnEnd = event.seq;
      addHeldText();
    },
    retract() {
      lastTurnEnd = Math.max(lastTurnEnd, current?.since ?? 0);
      drop();
    },
    snapshot(isRepeated) {
      if (!current || current.publishedLength === 0) return [];
      const { turn, text, publishedLength } = current;
      const restarted = isRepeated ? ({ restarted: true } as const) : {};
      return [{ type: 'chunk', chunk: { turn, text: text.slice(0, publishedLength), ...restarted } }];
    },
  };
}
