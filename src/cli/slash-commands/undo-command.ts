// The slash command /undo: restores the files that tools changed since the last prompt, newest change first.
import { listFileChanges, restoreFileChanges } from '../../coding-agent/index.ts';
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/undo`. Effects of shell commands are not undone, since they are not recorded. */
export const undoCommand: SlashCommand = {
  name: 'undo',
  description: 'restore files to before your last message; the conversation stays',
  async run(_, { conversation, notify, ui, signal, showPage }) {
    const found = listFileChanges(await conversation.events(), conversation.undoneEvents);
    const { changes } = found;
    if (changes.length === 0) return notify('No file was changed by a tool since your last message.');
    const key = await ui.askKey(
      {
        title: `Restore ${changes.length} change${changes.length === 1 ? '' : 's'}?`,
        detail: changes.map(({ path }) => path).join('\n'),
        keys: [
          { key: 'y', label: 'yes' },
          { key: 'n', label: 'no' },
        ],
        defaultKey: 'n',
      },
      signal,
    );
    if (key !== 'y') return notify('Nothing was changed.');
    const lines = await restoreFileChanges(conversation, found);
    await conversation.addNote(`I undid your last changes to these files:\n${lines.join('\n')}`);
    return showPage(lines.join('\n'), 'Undo');
  },
};
