// Which files the tools of a session worked on, kept as facts say it so that no summary has to remember it.
import type { Event, TouchedFile } from './fact.ts';
import { isObject } from './json.ts';
import type { ToolCall } from './state.ts';

/** More would fill a request with names; the latest are the ones that matter. */
const maxTouchedFiles = 100;

/** The marks with what this call did to a file: the one whose content its data tells of, or, where it has no data, the one its input names. */
export function recordTouchedFile(
  marks: readonly TouchedFile[],
  call: ToolCall,
  { outcome, data }: Event & { readonly type: 'tool-ended' },
): readonly TouchedFile[] {
  if (outcome !== 'ok') return marks;
  const told = isObject(data) && ('after' in data || 'hash' in data) ? data : {};
  const path = data === undefined && isObject(call.input) ? call.input['path'] : told['path'];
  if (typeof path !== 'string' || path === '') return marks;
  const known = marks.find((mark) => mark.path === path);
  const content = 'after' in told ? told['after'] : told['hash'];
  const mark: TouchedFile = {
    path,
    tool: call.tool,
    changed: known?.changed === true || ('after' in told && told['after'] !== told['before']),
    ...(typeof content === 'string' ? { content } : {}),
  };
  return [...marks.filter((each) => each !== known).slice(1 - maxTouchedFiles), mark];
}
