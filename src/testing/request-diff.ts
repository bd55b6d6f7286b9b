// Finds where a core request stops extending another.
import { toArray, type ModelRequest } from '../core/index.ts';

/** The first difference between two requests, and the values there. */
export type RequestDiff = { readonly where: string; readonly was: string; readonly is: string };

/** Returns where `request` does not begin with `earlier`; undefined if it extends it. Identical objects are not compared further. */
export function diffRequests(earlier: ModelRequest, request: ModelRequest): RequestDiff | undefined {
  if (earlier.system !== request.system) return { where: 'system', was: earlier.system, is: request.system };
  if (earlier.tools !== request.tools) {
    const was = JSON.stringify(earlier.tools);
    const is = JSON.stringify(request.tools);
    if (was !== is) return { where: 'tools', was, is };
  }
  const before = toArray(earlier.messages);
  const now = toArray(request.messages);
  for (const [i, message] of before.entries()) {
    if (message === now[i]) continue;
    const was = JSON.stringify(message);
    const is = now[i] === undefined ? '(nothing)' : JSON.stringify(now[i]);
    if (was !== is) return { where: `messages[${i}]`, was, is };
  }
  return undefined;
}

/** Returns both texts from shortly before their first difference on, short enough for a message. */
export function excerptDifference(was: string, is: string): { readonly was: string; readonly is: string } {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at++;
  const from = Math.max(0, at - 40);
  const cut = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, at + 80)}${text.length > at + 80 ? '…' : ''}`;
  return { was: cut(was), is: cut(is) };
}
