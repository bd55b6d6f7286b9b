// Says whether a text is nothing but recomputed statements and words that join them.
import type { TextSpan } from '../types.ts';

const joints = /^(?:[\s.,;:*_`]|\b(?:and|so|thus|therefore|hence|because|since|then|also|but)\b)*$/i;
const listMark = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;

/** Whether only white space, punctuation, emphasis, a list mark and joining words stand outside the spans, which are in order. */
export function isJoinedOnly(text: string, spans: readonly TextSpan[]): boolean {
  let at = Math.min(listMark.exec(text)?.[0].length ?? 0, spans[0]?.start ?? 0);
  for (const { start, end } of spans) {
    if (!joints.test(text.slice(at, start))) return false;
    at = end;
  }
  return joints.test(text.slice(at));
}
