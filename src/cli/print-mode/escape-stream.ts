// Makes a text visible while it comes: what is shown in the end is what would be shown had it come whole.
import { escapeInvisible } from '../../core/index.ts';

/** What can only be judged with what follows: half a letter, a joiner, a selector, a return before its line break. */
const incompleteSuffix = /(?:[\r\u200c\ud800-\udbff]|\u200d|\ufe0f)+$/;

/** As many characters as a judgement looks back on. */
const lookbehindChars = 6;

/** Takes pieces of a text and gives what can be shown of them already. */
export type EscapeStream = {
  push(piece: string): string;
  /** What was still undecided: nothing more comes. */
  end(): string;
};

/** Begins a text. */
export function createEscapeStream(): EscapeStream {
  let before = '';
  let held = '';
  const shown = (text: string): string => {
    const given = escapeInvisible(before + text).slice(escapeInvisible(before).length);
    before = (before + text).slice(-lookbehindChars);
    return given;
  };
  return {
    push(piece) {
      const text = held + piece;
      held = incompleteSuffix.exec(text)?.[0] ?? '';
      return shown(text.slice(0, text.length - held.length));
    },
    end() {
      const last = shown(held);
      held = '';
      before = '';
      return last;
    },
  };
}
