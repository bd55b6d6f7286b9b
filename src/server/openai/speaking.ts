// What a run says, in pieces that are never taken back: live where it is heard here, otherwise turn by turn.
import { textOf, type FleetRun, type JsonObject, type Message } from '../../core/index.ts';

/** One piece of what a run says, or how it came out. */
export type Spoken =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'run'; readonly run: FleetRun };

/** Reads frames of a run that is watched: what is said, and at the end the run as it ended or rests. */
export async function* spoken(frames: AsyncIterable<string>): AsyncGenerator<Spoken> {
  const voice = newVoice();
  for await (const batch of frames)
    for (const { event, data } of framesIn(batch)) {
      const text = event === 'chunk' ? voice.live(data) : event === 'event' ? voice.settled(data) : '';
      if (text !== '') yield { type: 'text', text };
      const run = data as unknown as FleetRun;
      if (event !== 'run' || (run.status !== 'ended' && run.status !== 'resting')) continue;
      yield { type: 'run', run };
      return;
    }
}

/** The frames in a piece of a stream. */
function framesIn(batch: string): readonly { readonly event: string; readonly data: JsonObject }[] {
  return batch.split('\n\n').flatMap((frame) => {
    const [, event, json] = /^(?:id: \d+\n)?event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    if (event === undefined || json === undefined) return [];
    const data = JSON.parse(json) as JsonObject;
    return [{ event, data }];
  });
}

/** Keeps what was said of each turn, so that its settled text, which may come later, adds only what is missing. */
function newVoice(): { live(chunk: JsonObject): string; settled(event: JsonObject): string } {
  const turns = new Map<unknown, { sent: string; heard: string }>();
  let latest: unknown;

  const turnOf = (turn: unknown): { sent: string; heard: string } => {
    const found = turns.get(turn) ?? { sent: '', heard: '' };
    turns.set(turn, found);
    return found;
  };
  /** The part of a text that was not said yet; a turn that is said again is passed over as far as it is the same. */
  const rest = (turn: unknown, text: string): string => {
    const about = turnOf(turn);
    if (text.length <= about.sent.length || !text.startsWith(about.sent)) return '';
    const gap = about.sent === '' && latest !== undefined && latest !== turn ? '\n\n' : '';
    const more = gap + text.slice(about.sent.length);
    about.sent = text;
    latest = turn;
    return more;
  };
  return {
    live({ turn, text, restarted }) {
      const about = turnOf(turn);
      about.heard = restarted === true ? '' : about.heard + String(text);
      return rest(turn, about.heard);
    },
    settled: ({ type, turn, message }) =>
      type === 'turn-ended' ? rest(turn, textOf(message as unknown as Message)) : '',
  };
}
