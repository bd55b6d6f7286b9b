// Tracks the files that tools read or changed, derived from facts, so that a summary does not have to list them.
import type { Event, TouchedFile } from './fact.ts';
import { isObject } from './json.ts';
import type { ToolCall } from './state.ts';

/** Max tracked files; older ones are dropped. */
const maxTouchedFiles = 100;

/** Updates the list with the files of a call: those that its data describes (one, or a list in `changes`) or, without data, the file that its input names. */
export function recordTouchedFile(
  files: readonly TouchedFile[],
  call: ToolCall,
  { outcome, data }: Event & { readonly type: 'tool-ended' },
): readonly TouchedFile[] {
  if (outcome !== 'ok') return files;
  if (data === undefined) return isObject(call.input) ? addFile(files, call, { path: call.input['path'] }) : files;
  if (!isObject(data)) return files;
  const described = Array.isArray(data['changes']) ? data['changes'] : [data];
  return described.reduce<readonly TouchedFile[]>(
    (known, each) => (isObject(each) && ('after' in each || 'hash' in each) ? addFile(known, call, each) : known),
    files,
  );
}

function addFile(
  files: readonly TouchedFile[],
  { tool }: ToolCall,
  described: Readonly<Record<string, unknown>>,
): readonly TouchedFile[] {
  const { path } = described;
  if (typeof path !== 'string' || path === '') return files;
  const known = files.find((file) => file.path === path);
  const content = 'after' in described ? described['after'] : described['hash'];
  const file: TouchedFile = {
    path,
    tool,
    changed: known?.changed === true || ('after' in described && described['after'] !== described['before']),
    ...(typeof content === 'string' ? { content } : {}),
  };
  return [...files.filter((each) => each !== known).slice(1 - maxTouchedFiles), file];
}
