// Which files the tools of a session worked on, kept as facts say it so that no summary has to remember it.
import type { Event, FileMark } from './fact.ts';
import { isObject } from './json.ts';
import type { Call } from './state.ts';

/** More would fill a request with names; the latest are the ones that matter. */
const most = 100;

/** The marks with what this call did to a file: the one its data names, or else the one its input does. */
export function markFile(
  marks: readonly FileMark[],
  call: Call,
  { outcome, data }: Event & { readonly type: 'tool-ended' },
): readonly FileMark[] {
  if (outcome !== 'ok') return marks;
  const told = isObject(data) ? data : {};
  const asked = isObject(call.input) ? call.input : {};
  const path = typeof told['path'] === 'string' ? told['path'] : asked['path'];
  if (typeof path !== 'string' || path === '') return marks;
  const known = marks.find((mark) => mark.path === path);
  const { before, after, hash } = told;
  const content = 'after' in told ? after : hash;
  const mark: FileMark = {
    path,
    tool: call.tool,
    changed: known?.changed === true || ('after' in told && after !== before),
    ...(typeof content === 'string' ? { content } : {}),
  };
  return [...marks.filter((each) => each !== known).slice(1 - most), mark];
}
