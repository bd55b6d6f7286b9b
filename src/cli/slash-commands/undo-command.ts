// The slash command /undo: restores the files that tools changed since the last prompt, newest change first.
import { isObject, errorMessage, type FileChange, type Event, type Json } from '../../core/index.ts';
import { getBranchPath } from '../../sessions/reports/index.ts';
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/undo`. Effects of shell commands are not undone, since they are not recorded. */
export const undoCommand: SlashCommand = {
  name: 'undo',
  description: 'restore files to before your last message; the conversation stays',
  async run(_, { conversation, notify, ui, signal, showPage }) {
    const { changes, commands } = changesSinceLastPrompt(
      getBranchPath(await conversation.events()),
      conversation.undoneEvents,
    );
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
    const lines: string[] = [];
    for (const change of changes.toReversed()) {
      try {
        await conversation.agent.workspace.restore(change);
        conversation.undoneEvents.add(change.event);
        lines.push(`restored: ${change.path}`);
      } catch (error) {
        lines.push(`not restored: ${change.path}: ${errorMessage(error)}`);
      }
    }
    if (commands) lines.push('The effects of commands are not undone.');
    await conversation.addNote(`I undid your last changes to these files:\n${lines.join('\n')}`);
    return showPage(lines.join('\n'), 'Undo');
  },
};

type UndoableChange = FileChange & { readonly event: string };

/** Returns the file changes since the last prompt of the user, and whether commands ran too. */
function changesSinceLastPrompt(
  events: readonly Event[],
  undone: ReadonlySet<string>,
): { readonly changes: readonly UndoableChange[]; readonly commands: boolean } {
  const from = events.findLastIndex((event) => event.type === 'input-received' && event.how === 'prompt');
  const later = events.slice(Math.max(0, from));
  const changes = later.flatMap((event): readonly UndoableChange[] => {
    if (event.type !== 'tool-ended' || undone.has(event.id)) return [];
    return getChanges(event.data).map((change) => ({ ...change, event: event.id }));
  });
  return { changes, commands: later.some((event) => event.type === 'tool-started' && /command/.test(event.tool)) };
}

/** Returns the file changes that a tool result records: one, or several. */
function getChanges(data: Json | undefined): readonly FileChange[] {
  const several = isObject(data) && Array.isArray(data['changes']) ? (data['changes'] as readonly Json[]) : [data];
  return several.flatMap((each) => parseChange(each) ?? []);
}

function parseChange(data: Json | undefined): FileChange | undefined {
  if (!isObject(data)) return undefined;
  const { path, before, after } = data;
  const isHash = (value: unknown): value is string | null => value === null || typeof value === 'string';
  return typeof path === 'string' && isHash(before) && isHash(after) ? { path, before, after } : undefined;
}
