// The slash commands /rewind and /fork: go back to before an earlier message, with the files of that time, or begin another session there.
import { listFileChanges, restoreFileChanges, type FileChanges } from '../../coding-agent/index.ts';
import { listUserTurns, previewText, rewindBefore, type UserTurn } from '../../sessions/reports/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

/** The slash command `/rewind`. */
export const rewindCommand: SlashCommand = {
  name: 'rewind',
  description: 'go back to before an earlier message, also with the files; the messages after it stay as a branch',
  run: (_, context) => pickRewindTarget(context),
};

/** The slash command `/fork`. */
export const forkCommand: SlashCommand = {
  name: 'fork',
  description: 'start a new session with the conversation before an earlier message; this session does not change',
  async run(_, context) {
    const { conversation, ui, notify } = context;
    if (conversation.file === undefined) return notify('This session is not saved (--ephemeral).', 'warning');
    const turn = await pickTurn(context, 'Fork before which message? This session does not change.');
    if (!turn) return notify('Nothing was changed.');
    const old = conversation.name;
    const { before } = turn;
    await conversation.fork(before.type === 'event' ? { at: before.event } : { messages: before.messages });
    notify(`A fork of "${old}": "${conversation.name}". The original stays as it was.`);
    return ui.setInput(turn.text);
  },
};

async function pickTurn({ conversation, ui, signal }: CommandContext, title: string): Promise<UserTurn | undefined> {
  const turns = listUserTurns(await conversation.events());
  const choices = turns
    .map(({ text, time }, i) => ({
      value: String(i),
      label: previewText(text, 200) || '(no text)',
      description: time.slice(0, 16).replace('T', ' '),
    }))
    .toReversed();
  const picked = choices.length === 0 ? undefined : await ui.pick(title, choices, { signal });
  return picked === undefined ? undefined : turns[Number(picked)];
}

/** Lets the user pick an earlier message, and whether the conversation, the files or both go back to before it; the text of the message is put into the input field. */
export async function pickRewindTarget(context: CommandContext): Promise<void> {
  const { conversation, ui, notify, showPage } = context;
  const events = await conversation.events();
  if (listUserTurns(events).length === 0) return notify('There is no earlier message yet.');
  const turn = await pickTurn(context, 'Go back to before which message? What follows it stays as a branch.');
  if (!turn) return notify('Nothing was changed.');
  const found =
    turn.before.type === 'event'
      ? listFileChanges(events, conversation.undoneEvents, turn.before.event)
      : { changes: [], hasCommands: false };
  const wanted = found.changes.length === 0 ? 'c' : await askWhatToRestore(context, found);
  if (wanted === 'n') return notify('Nothing was changed.');
  const lines = wanted === 'c' ? [] : await restoreFileChanges(conversation, found);
  if (wanted === 'f') await conversation.addNote(`I restored these files to an earlier state:\n${lines.join('\n')}`);
  else {
    await rewindBefore(conversation.session, turn);
    await conversation.notifyMoved();
    notify('Back at that point. The old branch is kept: /tree shows it.');
    ui.setInput(turn.text);
  }
  if (lines.length > 0) showPage(lines.join('\n'), 'Files');
  return undefined;
}

function askWhatToRestore({ ui, signal }: CommandContext, { changes }: FileChanges): Promise<string> {
  const files = [...new Set(changes.map(({ path }) => path))];
  return ui.askKey(
    {
      title: `Tools changed ${files.length} file${files.length === 1 ? '' : 's'} since then. What goes back?`,
      detail: files.join('\n'),
      keys: [
        { key: 'b', label: 'both conversation and files' },
        { key: 'c', label: 'conversation only' },
        { key: 'f', label: 'files only' },
        { key: 'n', label: 'nothing' },
      ],
      defaultKey: 'n',
    },
    signal,
  );
}
