// Makes a text visible while it comes: what is shown in the end is what would be shown had it come whole.
import { escapeInvisible } from '../../core/index.ts';

/** What can only be judged with what follows: half a letter, a joiner, a selector, a return before its line break. */
const undecided = /(?:[\r\u200c\ud800-\udbff]|\u200d|\ufe0f)+$/;

/** As many characters as a judgement looks back on. */
const back = 6;

/** Takes pieces of a text and gives what can be shown of them already. */
export type VisiblePieces = {
  next(piece: string): string;
  /** What was still undecided: nothing more comes. */
  rest(): string;
};

/** Begins a text. */
export function visiblePieces(): VisiblePieces {
  let before = '';
  let held = '';
  const shown = (text: string): string => {
    const given = escapeInvisible(before + text).slice(escapeInvisible(before).length);
    before = (before + text).slice(-back);
    return given;
  };
  return {
    next(piece) {
      const text = held + piece;
      held = undecided.exec(text)?.[0] ?? '';
      return shown(text.slice(0, text.length - held.length));
    },
    rest() {
      const last = shown(held);
      held = '';
      before = '';
      return last;
    },
  };
}
