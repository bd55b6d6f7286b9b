// Splits text into sentences and content words, for scorers and clusters.
import type { TextSpan } from './types.ts';

/** The English words that negate a statement. */
export const negatingWords: readonly string[] = 'not no never none neither nor'.split(' ');

const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the of in on at to for from by with and or but is are was were be been being as that this these those it its ' +
    'his her their he she they we you i not no has have had do does did will would can could may might should about ' +
    'into over after before than then so such also which who whom whose what when where there here'
  ).split(' '),
);

/** In the order in which they are tried; the first that fits is removed. */
const suffixes: readonly string[] = ['ing', 'edly', 'ed', 'ies', 'es', 's', 'ly'];
const minStemLength = 3;

function stem(word: string): string {
  for (const suffix of suffixes)
    if (word.endsWith(suffix) && word.length - suffix.length >= minStemLength) return word.slice(0, -suffix.length);
  return word;
}

/** Returns the content words of a text in order: lower case, letters a to z and digits, without stop words, with the suffix removed. */
export function contentWords(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(/[a-z0-9]+/g)) if (!stopWords.has(word)) words.push(stem(word));
  return words;
}

/** Returns the sentences of a text: a sentence ends after `.`, `!` or `?` if white space and a capital letter, a digit, a quote or a bracket follow. */
export function splitSentences(text: string): string[] {
  const normal = text.replaceAll(/\s+/g, ' ').trim();
  const sentences: string[] = [];
  let start = 0;
  for (const match of normal.matchAll(/([.!?]["')\]]*)\s+(?=[A-Z0-9"'([])/g)) {
    sentences.push(normal.slice(start, match.index + (match[1]?.length ?? 0)));
    start = match.index + match[0].length;
  }
  if (start < normal.length) sentences.push(normal.slice(start));
  return sentences;
}

/** What a character of ASCII is: a letter, a digit, or another sign. */
const [letter, digit] = [1, 2] as const;
const kinds = new Uint8Array(128).fill(letter, 65, 91).fill(letter, 97, 123).fill(digit, 48, 58);

/** Whether a text starts with a letter; one of ASCII needs no regular expression. */
export function startsWithLetter(text: string): boolean {
  const code = text.charCodeAt(0);
  return code < 128 ? kinds[code] === letter : /^\p{L}/u.test(text);
}

/** Whether a part of a text has a letter or a digit; one of ASCII needs no regular expression. */
export function hasLetterOrDigit(text: string, start = 0, end: number = text.length): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return /[\p{L}\p{N}]/u.test(text.slice(at, end));
    if (kinds[code] !== 0) return true;
  }
  return false;
}

/** Whether a character is white space; a letter needs no regular expression. */
export function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code < 32 || code > 127 ? /\s/.test(text[at] ?? '') : false);
}

/** Returns the part of a text without the white space at its ends. */
export function trimSpan(text: string, { start, end }: TextSpan): TextSpan {
  let from = start;
  let to = end;
  while (from < to && isSpace(text, from)) from += 1;
  while (to > from && isSpace(text, to - 1)) to -= 1;
  return { start: from, end: to };
}
