// Shows a conversation on a face, and each one that takes its place.
import type { RunOptions } from '../../agent/index.ts';
import type { Conversation } from '../../coding-agent/conversation.ts';
import type { TerminalUI } from '../tui/ui.ts';
import { createTranscriptPresenter } from '../../sessions/transcript-presenter.ts';

/** How much of a resumed conversation is shown. */
export const replayedMessages = 40;

/** Tells the conversation to the face from now on; gives what a run needs so that it is shown as it goes. */
export function bindConversationToUi(face: TerminalUI, talk: Conversation, refresh: () => void): RunOptions {
  let teller = createTranscriptPresenter(face, () => talk.stream);
  const show = (fresh: boolean): void => {
    teller = createTranscriptPresenter(face, () => talk.stream);
    if (!fresh) teller.replay(talk.session.messages, replayedMessages);
    for (const text of talk.problems)
      face.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'warning', text });
    refresh();
  };
  talk.subscribe({
    session(fresh) {
      face.clear();
      show(fresh);
    },
    event(event) {
      teller.onEvent(event);
      refresh();
    },
  });
  show(talk.isNew);
  return { onChunk: (chunk) => teller.onChunk(chunk), onToolProgress: (call, text) => face.appendText(call, text) };
}
