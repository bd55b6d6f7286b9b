// The file changes that tools recorded in a session, and restoring them: used by /undo and by a rewind that restores files.
import { errorMessage, isObject, type Event, type FileChange, type Json } from '../core/index.ts';
import { getBranchPath } from '../sessions/reports/index.ts';
import type { Conversation } from './conversation.ts';

/** A file change and the event that recorded it. */
export type RecordedChange = FileChange & { readonly event: string };

/** The changes of a part of a session, oldest first, and whether commands ran too: what they changed is not recorded. */
export type FileChanges = { readonly changes: readonly RecordedChange[]; readonly hasCommands: boolean };

/** Lists the changes on the current branch after an event, or since the last prompt of the user; without those that were restored before. */
export function listFileChanges(events: readonly Event[], restored: ReadonlySet<string>, after?: string): FileChanges {
  const path = getBranchPath(events);
  const from =
    after === undefined
      ? path.findLastIndex((event) => event.type === 'input-received' && event.how === 'prompt')
      : path.findIndex(({ id }) => id === after) + 1;
  const later = path.slice(Math.max(0, from));
  return {
    changes: later.flatMap((event): readonly RecordedChange[] =>
      event.type !== 'tool-ended' || restored.has(event.id)
        ? []
        : parseChanges(event.data).map((change) => ({ ...change, event: event.id })),
    ),
    hasCommands: later.some((event) => event.type === 'tool-started' && /command/.test(event.tool)),
  };
}

/** Restores the files, the newest change first, and returns one line for each. A file that changed since then is left as it is. */
export async function restoreFileChanges(
  { agent, undoneEvents }: Pick<Conversation, 'agent' | 'undoneEvents'>,
  { changes, hasCommands }: FileChanges,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const change of changes.toReversed()) {
    try {
      await agent.workspace.restore(change);
      undoneEvents.add(change.event);
      // A file that did not exist before the change is removed.
      lines.push(`${change.before === null ? 'deleted' : 'restored'}: ${change.path}`);
    } catch (error) {
      lines.push(`not restored: ${change.path}: ${errorMessage(error)}`);
    }
  }
  return hasCommands ? [...lines, 'The effects of commands are not undone.'] : lines;
}

/** The file changes that a tool result records: one, or several. */
function parseChanges(data: Json | undefined): readonly FileChange[] {
  const several = isObject(data) && Array.isArray(data['changes']) ? (data['changes'] as readonly Json[]) : [data];
  return several.flatMap((each) => parseChange(each) ?? []);
}

function parseChange(data: Json | undefined): FileChange | undefined {
  if (!isObject(data)) return undefined;
  const { path, before, after } = data;
  const isHash = (value: unknown): value is string | null => value === null || typeof value === 'string';
  return typeof path === 'string' && isHash(before) && isHash(after) ? { path, before, after } : undefined;
}
