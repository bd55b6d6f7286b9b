// Splits normalized text into the words of the injection detector: Latin words, numbers, words of other alphabets, line breaks, and single characters.

/** What is kept of a number: that it is one, and roughly its length. */
const maxDigits = 5;
/** A longer word is one of a kind, such as a hash. */
const maxWordChars = 24;
/** The word for all words that are too long. */
export const longWord = 'LONG';

const space = 0;
const latin = 1;
const digit = 2;
const lineBreak = 3;
/** A character of a script that is written without spaces. */
const ideograph = 4;
const otherLetter = 5;
const sign = 6;

/** The class of each UTF-16 code unit. */
const classes = new Uint8Array(0x10000).fill(sign);
const setClass = (first: number, last: number, kind: number): Uint8Array => classes.fill(kind, first, last + 1);
for (let code = 0; code < 0x10000; code++) if (/\s/.test(String.fromCharCode(code))) classes[code] = space;
setClass(0x1c, 0x1f, space);
setClass(0x85, 0x85, space);
for (const [first, last] of [
  [0xc0, 0x1fff],
  [0x2c00, 0x2dff],
  [0xa000, 0xd7ff],
  [0xf900, 0xfdff],
] as const)
  setClass(first, last, otherLetter);
setClass(0x3040, 0x9fff, ideograph);
setClass(0x61, 0x7a, latin);
setClass(0x30, 0x39, digit);
setClass(0x0a, 0x0a, lineBreak);

const numbers: readonly string[] = Array.from({ length: maxDigits + 1 }, (_, length) => '0'.repeat(length));

/** Calls `onWord` for each word of a part of a text. Line breaks in a row are one word. */
export function splitWords(text: string, from: number, to: number, onWord: (word: string) => void): void {
  let isAfterBreak = false;
  for (let at = from; at < to;) {
    const start = at;
    const kind = classes[text.charCodeAt(at)];
    at += 1;
    if (kind === space || (kind === lineBreak && isAfterBreak)) continue;
    isAfterBreak = kind === lineBreak;
    if (kind === latin || kind === digit || kind === otherLetter)
      while (at < to && classes[text.charCodeAt(at)] === kind) at += 1;
    else if (kind === sign && at < to && isPair(text, start)) at += 1;
    if (kind === digit) onWord(numbers[Math.min(at - start, maxDigits)] ?? '');
    else onWord(at - start > maxWordChars ? longWord : text.slice(start, at));
  }
}

/** Whether a code unit begins a surrogate pair. */
function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  const low = text.charCodeAt(at + 1);
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}
