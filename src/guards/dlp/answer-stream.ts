// Redacts a text while it is written: buffers the end of it, in which a finding may not be complete.
import type { DlpScanner } from './scanner.ts';
import type { DlpFinding } from './types.ts';

/** A text that grows. */
export type GuardedText = {
  /** Adds to the text, and returns what may be shown now. */
  add(text: string): string;
  /** Returns the rest. */
  end(): string;
};

/** What is held back: longer than a number with its separators and the word of context before it. */
const heldChars = 512;
/** What was shown is scanned again in front of new text, so that a word of context there still counts. */
const contextChars = 512;

/** Creates a text whose findings are replaced. `hold` is the length of the longest value that may be found. */
export function createGuardedText(
  scanner: DlpScanner,
  replace: (value: string, finding: DlpFinding) => string,
  hold = 0,
): GuardedText {
  const held = Math.max(heldChars, hold);
  let context = '';
  let rest = '';
  const show = (end: number, findings: readonly DlpFinding[]): string => {
    const pieces: string[] = [];
    const text = context + rest;
    let at = context.length;
    for (const finding of findings) {
      if (finding.to <= at || finding.from >= end) continue;
      const from = Math.max(at, finding.from);
      pieces.push(text.slice(at, from), replace(text.slice(from, finding.to), finding));
      at = finding.to;
    }
    pieces.push(text.slice(at, end));
    rest = text.slice(Math.max(end, at));
    context = text.slice(Math.max(0, end - contextChars), Math.max(end, at));
    return pieces.join('');
  };
  return {
    add(text) {
      rest += text;
      // Scanning pays off once there is something to show.
      if (rest.length < 2 * held) return '';
      const all = context + rest;
      const findings = scanner.find(all);
      let end = all.length - held;
      // A block such as a private key is found when it is complete.
      const open = all.lastIndexOf('-----BEGIN');
      if (open >= context.length && !all.includes('-----END', open)) end = Math.min(end, open);
      const divided = findings.find(({ from, to }) => from < end && end < to);
      if (divided) end = Math.max(context.length, divided.from);
      return end <= context.length ? '' : show(end, findings);
    },
    end: () => (rest === '' ? '' : show(context.length + rest.length, scanner.find(context + rest))),
  };
}
