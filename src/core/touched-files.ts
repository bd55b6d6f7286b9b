// Tracks the files that tools read or changed, derived from facts, so that a summary does not have to list them.
import type { Event, TouchedFile } from './fact.ts';
import { isObject } from './json.ts';
import type { ToolCall } from './state.ts';

/** Max tracked files; older ones are dropped. */
const maxTouchedFiles = 100;

/** Updates the list with the file of a call: the file that its data describes or, without data, the file that its input names. */
export function recordTouchedFile(
  files: readonly TouchedFile[],
  call: ToolCall,
  { outcome, data }: Event & { readonly type: 'tool-ended' },
): readonly TouchedFile[] {
  if (outcome !== 'ok') return files;
  const fileData = isObject(data) && ('after' in data || 'hash' in data) ? data : {};
  const path = data === undefined && isObject(call.input) ? call.input['path'] : fileData['path'];
  if (typeof path !== 'string' || path === '') return files;
  const known = files.find((file) => file.path === path);
  const content = 'after' in fileData ? fileData['after'] : fileData['hash'];
  const file: TouchedFile = {
    path,
    tool: call.tool,
    changed: known?.changed === true || ('after' in fileData && fileData['after'] !== fileData['before']),
    ...(typeof content === 'string' ? { content } : {}),
  };
  return [...files.filter((each) => each !== known).slice(1 - maxTouchedFiles), file];
}
