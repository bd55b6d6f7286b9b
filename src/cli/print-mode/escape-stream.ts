// Escapes invisible characters in streamed text: the result is the same as for the complete text.
import { escapeInvisible } from '../../core/index.ts';

/** Characters whose escaping depends on what follows: half a surrogate pair, a joiner, a selector, a carriage return. */
const isIncomplete = (char: string): boolean =>
  '\r\u200c\u200d\ufe0f'.includes(char) || (char >= '\ud800' && char <= '\udbff');

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
      // From the end: a regular expression would try every start of a run of such characters.
      let end = text.length;
      while (end > 0 && isIncomplete(text.charAt(end - 1))) end--;
      held = text.slice(end);
      return escapeNext(text.slice(0, end));
    },
    end() {
      const last = escapeNext(held);
      held = '';
      before = '';
      return last;
    },
  };
}
