// Turns the messages of a run into text deltas that are never retracted, partial text at once and the missing rest when a turn ends; and ends a text at a stop sequence.
import {
  messageText,
  parseVerificationDemand,
  type Event,
  type FleetRun,
  type JsonObject,
  maxOf,
  minOf,
} from '../../core/index.ts';
import type { SessionMessage } from '../http/replay-buffer.ts';
import { throwInvalidParam } from '../http/errors.ts';

/** A text delta, or the run when it has ended or waits for approval. */
export type RunOutput =
  | { readonly type: 'text'; readonly text: string }
  /** `isHeld`: the answer is verified, so that no text was sent before its end. */
  | { readonly type: 'run'; readonly run: FleetRun; readonly isHeld: boolean };

/** Reads the messages of a run until it has ended or waits for approval. A text that is to be verified is not sent: sent text cannot be retracted. */
export async function* readRunOutput(
  batches: AsyncIterable<readonly SessionMessage[]>,
  isVerified = false,
): AsyncGenerator<RunOutput> {
  const tracker = createDeltaTracker();
  let isHeld = isVerified;
  for await (const batch of batches)
    for (const message of batch) {
      if (message.type === 'run' && (message.run.status === 'ended' || message.run.status === 'waiting')) {
        yield { type: 'run', run: message.run, isHeld };
        return;
      }
      if (message.type === 'event') isHeld ||= parseVerificationDemand(message.event) === true;
      const text =
        message.type === 'chunk'
          ? tracker.pushChunk(message.chunk)
          : message.type === 'event'
            ? tracker.pushEvent(message.event)
            : '';
      if (text !== '' && !isHeld) yield { type: 'text', text };
    }
}

/** The received text of a turn, and the text that was sent of it or of an interrupted attempt before it. */
type TurnProgress = { readonly turn: number | undefined; sent: string; received: string; isSettled: boolean };

type DeltaTracker = {
  pushChunk(chunk: (SessionMessage & { readonly type: 'chunk' })['chunk']): string;
  pushEvent(event: Event): string;
};

function createDeltaTracker(): DeltaTracker {
  let current: TurnProgress = { turn: undefined, sent: '', received: '', isSettled: true };
  let hasSentText = false;

  /** Text that was sent of an interrupted turn counts for the turn that replaces it. */
  const enterTurn = (turn: number): TurnProgress => {
    if (current.turn !== turn)
      current = { turn, sent: current.isSettled ? '' : current.sent, received: '', isSettled: false };
    return current;
  };
  /** Returns the part of a text that was not sent: its continuation, or all of it if it differs from the sent text. */
  const unsentText = (progress: TurnProgress, text: string): string => {
    if (progress.sent.startsWith(text)) return '';
    const continues = text.startsWith(progress.sent);
    const separator = hasSentText && (!continues || progress.sent === '') ? '\n\n' : '';
    const delta = separator + (continues ? text.slice(progress.sent.length) : text);
    progress.sent = text;
    hasSentText = true;
    return delta;
  };
  return {
    pushChunk({ turn, text, restarted }) {
      const progress = enterTurn(turn);
      progress.received = (restarted === true ? '' : progress.received) + text;
      return unsentText(progress, progress.received);
    },
    pushEvent(event) {
      if (event.type !== 'turn-ended') return '';
      const progress = enterTurn(event.turn);
      const text = messageText(event.message);
      progress.isSettled = true;
      // The final text may differ from the streamed text in white space: it is not sent a second time.
      return progress.received !== '' && !text.startsWith(progress.sent) ? '' : unsentText(progress, text);
    },
  };
}

/** Cuts a text at the first stop sequence. */
export type StopFilter = {
  /** Returns the text that can be sent; text that may be the start of a stop sequence is held. */
  push(piece: string): string;
  /** Returns the held text at the end. */
  flush(): string;
};

/** Parses the stop sequences of a request. */
export function parseStopSequences({ stop }: JsonObject): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const all = Array.isArray(stop) ? stop : [stop];
  if (all.length > 16 || !all.every((each) => typeof each === 'string' && each.length <= 1000))
    throwInvalidParam('stop', '`stop` must be a string or an array of strings.');
  return (all as readonly string[]).filter((each) => each !== '');
}

/** Creates a filter for these stop sequences. */
export function createStopFilter(stops: readonly string[]): StopFilter {
  const heldChars = maxOf(
    stops.map(({ length }) => length - 1),
    0,
  );
  let held = '';
  let isStopped = false;
  return {
    push(piece) {
      if (isStopped) return '';
      const text = held + piece;
      const positions = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
      isStopped = positions.length > 0;
      const end = isStopped ? minOf(positions) : Math.max(0, text.length - heldChars);
      held = isStopped ? '' : text.slice(end);
      return text.slice(0, end);
    },
    flush() {
      const text = held;
      held = '';
      return text;
    },
  };
}
