// Back to an earlier message: the person picks one, the conversation branches before it, and its words are in the entry field again.
import { previewText, rewindBefore, listUserTurns } from '../../sessions/reports/index.ts';
import type { CommandContext } from './context.ts';

/** Lets the person pick a message to go back to. */
export async function pickRewindTarget({ conversation, ui, notify, signal }: CommandContext): Promise<void> {
  const turns = listUserTurns(await conversation.events());
  if (turns.length === 0) return notify('There is nothing to go back to yet.');
  const choices = turns
    .map(({ text, time }, i) => ({
      value: String(i),
      label: previewText(text, 200) || '(no words)',
      description: time.slice(0, 16).replace('T', ' '),
    }))
    .toReversed();
  const picked = await ui.pick('Go back to before which message? What follows it stays as a branch.', choices, signal);
  const turn = picked === undefined ? undefined : turns[Number(picked)];
  if (!turn) return notify('Nothing was changed.');
  await rewindBefore(conversation.session, turn);
  conversation.notifyMoved();
  notify('Back at that point. The old branch is kept: /tree shows it.');
  return ui.setInput(turn.text);
}
