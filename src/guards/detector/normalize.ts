// Normalizes text for the injection detector: invisible characters are removed, tag characters and look-alike letters become the letters that they stand for.
import { normalizeUnicode } from '../../core/index.ts';

/** Characters that are not displayed. Tag characters are replaced before. */
const hiddenCharacters =
  /\u034f|\u17b4|\u17b5|[\u180b-\u180d]|[\ufe00-\ufe0f]|[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|[\u{e0000}-\u{e01ef}]/gu;
/** Tag characters that stand for printable ASCII. */
const tagCharacters = /[\u{e0020}-\u{e007e}]/gu;
const tagOffset = 0xe0000;
const combiningMarks = /[\u0300-\u036f]/g;
const unicodeEscapes = /\\u([0-9a-f]{4})/g;
const nonAscii = /[^\p{ASCII}]/u;

/** Letters of other alphabets, by the Latin letter for which the detector was trained to take them. */
const lookAlikes: Readonly<Record<string, string>> = {
  a: 'аαɑ',
  b: 'в',
  c: 'с',
  d: 'ԁ',
  e: 'еε',
  g: 'ɡ',
  h: 'һнհ',
  i: 'іιı',
  j: 'ј',
  k: 'кκ',
  m: 'м',
  n: 'пηո',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛ',
  r: 'г',
  s: 'ѕ',
  t: 'тτ',
  u: 'υս',
  v: 'ѵν',
  w: 'ԝω',
  x: 'хχ',
  y: 'уγ',
};
const latinLetters = new Map(
  Object.entries(lookAlikes).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);
const lookAlikeLetters = [...latinLetters.keys()].join('');
const anyLookAlike = new RegExp(`[${lookAlikeLetters}]`, 'g');
const letterRun = new RegExp(`[a-z${lookAlikeLetters}]+`, 'g');

/** Returns the text as the detector reads it: lower case without accents, hidden characters and JSON escapes. */
export function normalizeForDetector(text: string): string {
  const letters = nonAscii.test(text) ? foldCharacters(text) : text.toLowerCase();
  return letters.includes('\\') || nonAscii.test(letters) ? replaceLookAlikes(replaceEscapes(letters)) : letters;
}

function foldCharacters(text: string): string {
  const shown = text
    .replaceAll(tagCharacters, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? tagOffset) - tagOffset))
    .replaceAll(hiddenCharacters, '');
  // Joiners that the normalization inserts into long runs of marks are removed with the marks.
  return normalizeUnicode(shown, 'NFKD').replaceAll(combiningMarks, '').toLowerCase();
}

/** Replaces the escapes of JSON strings. Half of a surrogate pair becomes a space. */
const replaceEscapes = (text: string): string =>
  text
    .replaceAll(unicodeEscapes, (_, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code >= 0xd800 && code <= 0xdfff ? ' ' : String.fromCodePoint(code);
    })
    .replaceAll(String.raw`\n`, '\n')
    .replaceAll(String.raw`\t`, ' ')
    .replaceAll(String.raw`\"`, '"');

/** Replaces look-alike letters in words that have Latin letters too. A word of another alphabet stays as it is. */
function replaceLookAlikes(text: string): string {
  if (text.search(anyLookAlike) < 0) return text;
  return text.replaceAll(letterRun, (word) =>
    /[a-z]/.test(word) ? word.replaceAll(anyLookAlike, (letter) => latinLetters.get(letter) ?? letter) : word,
  );
}
