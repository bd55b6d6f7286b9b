// Back to an earlier message: the person picks one, the conversation branches before it, and its words are in the entry field again.
import { previewText, rewindBefore, listUserTurns } from '../../sessions/reports/index.ts';
import type { CommandContext } from './context.ts';

/** Lets the person pick a message to go back to. */
export async function pickRewindTarget({
  conversation: talk,
  ui: face,
  notify: say,
  signal,
}: CommandContext): Promise<void> {
  const turns = listUserTurns(await talk.events());
  if (turns.length === 0) return say('There is nothing to go back to yet.');
  const choices = turns
    .map(({ text, time }, i) => ({
      value: String(i),
      label: previewText(text, 200) || '(no words)',
      description: time.slice(0, 16).replace('T', ' '),
    }))
    .toReversed();
  const picked = await face.pick(
    'Go back to before which message? What follows it stays as a branch.',
    choices,
    signal,
  );
  const turn = picked === undefined ? undefined : turns[Number(picked)];
  if (!turn) return say('Nothing was changed.');
  await rewindBefore(talk.session, turn);
  talk.notifyMoved();
  say('Back at that point. The old branch is kept: /tree shows it.');
  return face.setInput(turn.text);
}
