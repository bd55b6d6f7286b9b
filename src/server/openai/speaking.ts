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

/** Keeps what was said of a turn, so that its settled text adds only what is missing. */
function newVoice(): { live(chunk: JsonObject): string; settled(event: JsonObject): string } {
  let turn: unknown;
  let sent = '';
  let heard = '';
  let silent = true;

  const begin = (next: unknown): void => {
    if (next === turn) return;
    turn = next;
    sent = '';
    heard = '';
  };
  const say = (text: string): string => {
    const gap = sent === '' && !silent && text !== '' ? '\n\n' : '';
    silent &&= text === '';
    return gap + text;
  };
  return {
    live({ turn: at, text, restarted }) {
      begin(at);
      heard = restarted === true ? '' : heard + String(text);
      // A turn that is said again is passed over as far as it is the same.
      if (heard.length <= sent.length || !heard.startsWith(sent)) return '';
      const more = say(heard.slice(sent.length));
      sent = heard;
      return more;
    },
    settled({ type, turn: at, message }) {
      if (type !== 'turn-ended') return '';
      begin(at);
      const text = textOf(message as unknown as Message);
      const more = text.startsWith(sent) ? say(text.slice(sent.length)) : '';
      sent = text;
      return more;
    },
  };
}
