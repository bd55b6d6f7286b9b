// What a run says, in pieces that are never taken back: as it is said, and what was not heard then when its turn is settled.
import { messageText, type FleetRun, type JsonObject, type Message } from '../../core/index.ts';

/** One piece of what a run says, or how it came out. */
export type RunOutput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'run'; readonly run: FleetRun };

/** Reads frames of a run that is watched: what is said, and at the end the run as it ended or rests. */
export async function* readRunOutput(frames: AsyncIterable<string>): AsyncGenerator<RunOutput> {
  const voice = createDeltaTracker();
  for await (const batch of frames)
    for (const { event, data } of parseSseFrames(batch)) {
      const text = event === 'chunk' ? voice.live(data) : event === 'event' ? voice.settled(data) : '';
      if (text !== '') yield { type: 'text', text };
      const run = data as unknown as FleetRun;
      if (event !== 'run' || (run.status !== 'ended' && run.status !== 'waiting')) continue;
      yield { type: 'run', run };
      return;
    }
}

/** The frames in a piece of a stream. */
function parseSseFrames(batch: string): readonly { readonly event: string; readonly data: JsonObject }[] {
  return batch.split('\n\n').flatMap((frame) => {
    const [, event, json] = /^(?:id: \d+\n)?event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    if (event === undefined || json === undefined) return [];
    const data = JSON.parse(json) as JsonObject;
    return [{ event, data }];
  });
}

/** What was heard of a turn, and what was sent of it or of one that was broken off before it. */
type TurnProgress = { readonly turn: unknown; sent: string; received: string; isSettled: boolean };

/** Keeps what was said of a turn, so that its settled text, which comes later, adds only what is missing. */
function createDeltaTracker(): { live(chunk: JsonObject): string; settled(event: JsonObject): string } {
  let now: TurnProgress = { turn: undefined, sent: '', received: '', isSettled: true };
  let hasSpoken = false;

  /** What was sent of a turn that was broken off counts for the one that takes its place. */
  const enter = (turn: unknown): TurnProgress => {
    if (now.turn !== turn) now = { turn, sent: now.isSettled ? '' : now.sent, received: '', isSettled: false };
    return now;
  };
  /** The part of a text that was not sent yet. What is said again is passed over as far as it is the same; where it is not, all of it comes. */
  const rest = (about: TurnProgress, text: string): string => {
    if (about.sent.startsWith(text)) return '';
    const goesOn = text.startsWith(about.sent);
    const gap = hasSpoken && (!goesOn || about.sent === '') ? '\n\n' : '';
    const more = gap + (goesOn ? text.slice(about.sent.length) : text);
    about.sent = text;
    hasSpoken = true;
    return more;
  };
  return {
    live({ turn, text, restarted }) {
      const about = enter(turn);
      about.received = (restarted === true ? '' : about.received) + String(text);
      return rest(about, about.received);
    },
    settled({ type, turn, message }) {
      if (type !== 'turn-ended') return '';
      const about = enter(turn);
      const text = messageText(message as unknown as Message);
      about.isSettled = true;
      // A turn that was heard is not told a second time because of a blank.
      return about.received !== '' && !text.startsWith(about.sent) ? '' : rest(about, text);
    },
  };
}
