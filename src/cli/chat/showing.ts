// Shows a conversation on a face, and each one that takes its place.
import type { RunOptions } from '../../agent/index.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Face } from '../face/face.ts';
import { narrator } from './narrator.ts';

/** How much of a resumed conversation is shown. */
export const shown = 40;

/** Tells the conversation to the face from now on; gives what a run needs so that it is shown as it goes. */
export function showOn(face: Face, talk: Conversation, refresh: () => void): RunOptions {
  let teller = narrator(face, () => talk.stream);
  const show = (fresh: boolean): void => {
    teller = narrator(face, () => talk.stream);
    if (!fresh) teller.replay(talk.session.messages, shown);
    for (const text of talk.problems) face.put({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
    refresh();
  };
  talk.watch({
    session(fresh) {
      face.clear();
      show(fresh);
    },
    event(event) {
      teller.event(event);
      refresh();
    },
  });
  show(talk.fresh);
  return { onChunk: (chunk) => teller.chunk(chunk), onToolProgress: (call, text) => face.extend(call, text) };
}
