// Escapes invisible characters in streamed text: the result is the same as for the complete text.
import { escapeInvisible } from '../../core/index.ts';

/** Characters whose escaping depends on what follows: half a surrogate pair, a joiner, a selector, a carriage return. */
const incompleteSuffix = /(?:[\r\u200c\ud800-\udbff]|\u200d|\ufe0f)+$/;

/** How many earlier characters the escaping depends on. */
const lookbehindChars = 6;

/** Takes parts of a text and returns what can be written already. */
export type EscapeStream = {
  push(chunk: string): string;
  /** Returns the rest after the last part. */
  end(): string;
};

/** Creates the escaping of one text. */
export function createEscapeStream(): EscapeStream {
  let before = '';
  let held = '';
  const escapeNext = (text: string): string => {
    const escaped = escapeInvisible(before + text).slice(escapeInvisible(before).length);
    before = (before + text).slice(-lookbehindChars);
    return escaped;
  };
  return {
    push(chunk) {
      const text = held + chunk;
      held = incompleteSuffix.exec(text)?.[0] ?? '';
      return escapeNext(text.slice(0, text.length - held.length));
    },
    end() {
      const last = escapeNext(held);
      held = '';
      before = '';
      return last;
    },
  };
}
