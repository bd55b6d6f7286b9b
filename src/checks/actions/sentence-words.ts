// Splits a sentence into words in one pass over its characters, and gives each word a class letter, so that statements are read from a short text of letters.
import { codeMark, quoteMark, type Sentence } from './claim-text.ts';
import { hashStart, lookUp, type Entry, type Verb } from './lexicon.ts';

/** A word of a sentence: its place, its text in lower case, and its verb if it is a form of one. */
export type Word = {
  readonly at: number;
  readonly end: number;
  readonly text: string;
  readonly verb: Verb | undefined;
};

/** A sentence as words, and one letter for each of them. */
export type SentenceWords = {
  readonly words: readonly Word[];
  readonly shape: string;
  /** The sentence in lower case. */
  readonly lower: string;
};

const codeOf = (text: string): number => text.charCodeAt(0);

/** What a character that is no letter of a word is, as bits: white space or a placeholder, a sign before a word, a sign behind a word, a dot or a slash, an ideograph. */
const [gap, before, behind, dot, ideograph] = [1, 2, 4, 8, 16] as const;
const signs = new Uint8Array(0x10000);
for (const [bit, list] of [
  [gap, ` \t\n\v\f\r\u00a0${codeMark}${quoteMark}`],
  [before, '([{"\'*_~\u201c\u2018\u00ab\u00bf\u00a1'],
  [behind, ')]}"\'*_~,.:;!?\u201d\u2019\u00bb\u2026'],
  [dot, './'],
] as const)
  for (const sign of list) signs[codeOf(sign)] = (signs[codeOf(sign)] ?? 0) | bit;
signs.fill(ideograph, 0x4e00, 0xa000);

/** The letters of words in lower case, 0 for the characters above. */
const lowerCodes = new Uint16Array(0x10000);
for (let code = 0; code < 0x10000; code++)
  if (signs[code] === 0) lowerCodes[code] = code >= 65 && code <= 90 ? code + 32 : code;

/** Letters of signs in a shape; other signs are left out. */
const signLetters = new Uint8Array(128);
for (const pair of ['((', '[(', '))', '])', ',,', ';;', '::', '..', '!.', '??'])
  signLetters[codeOf(pair)] = codeOf(pair.slice(1));

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const codePoint = codeOf(codeMark);
const quotePoint = codeOf(quoteMark);

/** Bits of letters, so that most sentences are left after this pass. */
const bits = new Int32Array(128);
const groups = {
  own: 1,
  help: 2,
  outcome: 4,
  noun: 8,
  report: 16,
  value: 32,
  none: 64,
  foreign: 128,
  files: 256,
  now: 512,
  past: 1024,
  gerund: 2048,
} as const;
for (const [group, letters] of [
  ['own', 'iI'],
  ['help', 'wsh'],
  ['outcome', 'rAfx/'],
  ['noun', 'TBLYMkeO#0lj'],
  ['report', 'RVE'],
  ['value', 'ku#0'],
  ['none', 'n0'],
  ['foreign', 'G'],
  ['files', 'F'],
  ['now', 'a'],
  ['gerund', 'gH'],
] as const)
  for (const letter of letters) bits[codeOf(letter)] = (bits[codeOf(letter)] ?? 0) | groups[group];

/** The words of the sentence that is read. */
const maxWords = 1300;
const starts = new Int32Array(maxWords);
const ends = new Int32Array(maxWords);
const letters = new Uint8Array(maxWords);
const entries: (Entry | undefined)[] = Array.from({ length: maxWords });
/** How many words at the start can stand before a verb without a subject: a label and adverbs. */
const maxLead = 9;

/**
 * Splits a sentence; undefined if it has no words of a claim. Letters besides those of the lexicon: `k` code, `u` a quotation,
 * `p` a word or code with a dot or a slash, `#` a number, `-` a dash or an arrow, `D` a word that ends in "ed", `o` any other word.
 */
export function splitSentence(
  answer: string,
  { text, start: place, source: masked, offset: start }: Sentence,
): SentenceWords | undefined {
  const length = start + Math.min(text.length, maxWords);
  let count = 0;
  let found = 0;
  let isBare = false;
  for (let i = start; i < length;) {
    const from = i;
    let code = masked.charCodeAt(i);
    if (code === codePoint || code === quotePoint) {
      while (i < length && masked.charCodeAt(i) === code) i++;
      const letter = code === quotePoint ? 117 : isName(answer, place + from - start, place + i - start) ? 112 : 107;
      count = addWord(count, letter, from - start, i - start);
      found |= bits[letter] ?? 0;
      continue;
    }
    while (i < length && ((signs[masked.charCodeAt(i)] ?? 0) & before) > 0) i++;
    // One pass over a word: its hash without the signs behind it, and whether it has a dot or a slash.
    const at = i;
    let end = i;
    let hash = hashStart;
    let wordHash = hashStart;
    let inner = 0;
    let wordInner = 0;
    for (;;) {
      let lower = 0;
      for (; i < length; i++) {
        code = masked.charCodeAt(i);
        lower = lowerCodes[code] ?? 0;
        if (lower === 0) break;
        hash = (Math.imul(hash, 31) + lower) | 0;
      }
      const sign = i < length ? (signs[code] ?? 0) : gap;
      if (
        (i > at && lower === 0 && ((signs[masked.charCodeAt(i - 1)] ?? 0) & behind) === 0) ||
        (i >= length && lower !== 0)
      ) {
        end = i;
        wordHash = hash;
        wordInner = inner;
      }
      if ((sign & gap) > 0) break;
      hash = (Math.imul(hash, 31) + code) | 0;
      inner |= sign & (dot | ideograph);
      i++;
      if ((sign & behind) === 0) {
        end = i;
        wordHash = hash;
        wordInner = inner;
      }
    }
    for (let sign = from; sign < at; sign++) count = addSign(count, masked, sign, start);
    if (end > at) {
      const entry = lookUp(wordHash, end - at);
      const letter = entry ? entry.code : letterOf(masked, at, end, wordInner);
      if (entry?.isPast) {
        found |= groups.past;
        if (count < maxLead) isBare = true;
      }
      count = addWord(count, letter, at - start, end - start, entry);
      found |= bits[letter] ?? 0;
    }
    for (let sign = end > at ? end : at; sign < i; sign++) count = addSign(count, masked, sign, start);
    while (i < length && isSpace(masked.charCodeAt(i))) i++;
  }
  return isPossible(found, isBare, letters[0] ?? 0) ? collect(text, count) : undefined;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160;

function addWord(count: number, letter: number, at: number, end: number, entry?: Entry): number {
  starts[count] = at;
  ends[count] = end;
  letters[count] = letter;
  entries[count] = entry;
  return count + 1;
}

/** Whether words of these groups can make a claim together. */
function isPossible(found: number, isBare: boolean, first: number): boolean {
  const has = (group: keyof typeof groups): boolean => (found & groups[group]) > 0;
  return (
    isBare ||
    has('foreign') ||
    has('files') ||
    first === 107 ||
    first === 112 ||
    ((has('own') || has('help')) && has('past')) ||
    (has('own') && (has('none') || has('help') || has('gerund'))) ||
    (has('outcome') && has('noun')) ||
    (has('report') && has('value')) ||
    (has('now') && has('value')) ||
    first === 48 ||
    first === 101
  );
}

/** The letters as texts, by their codes. */
const letterTexts = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

function collect(text: string, count: number): SentenceWords {
  const lowered = text.toLowerCase();
  const lower = lowered.length === text.length ? lowered : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const words: Word[] = [];
  let shape = '';
  for (let i = 0; i < count; i++) {
    shape += letterTexts[letters[i] ?? 0] ?? 'o';
    const at = starts[i] ?? 0;
    const end = ends[i] ?? 0;
    words.push({ at, end, text: lower.slice(at, end), verb: entries[i]?.verb });
  }
  return { words, shape, lower };
}

/** Whether code is one word with a dot or a slash, such as the name of a file. */
function isName(answer: string, from: number, to: number): boolean {
  const text = answer.slice(from, to);
  return !text.includes(' ') && (text.includes('.') || text.includes('/'));
}

function addSign(count: number, text: string, at: number, start: number): number {
  const code = text.charCodeAt(at);
  const letter = code < 128 ? (signLetters[code] ?? 0) : code === 0x2026 ? 46 : 0;
  return letter > 0 ? addWord(count, letter, at - start, at - start + 1) : count;
}

/** The letter of a word that the lexicon does not have; `inner` says whether it has a dot, a slash or an ideograph. */
function letterOf(text: string, at: number, end: number, inner: number): number {
  if ((inner & ideograph) > 0) return 71;
  const first = text.charCodeAt(at);
  if (isDigit(first)) {
    const word = text.slice(at, end);
    return /^\d[\d,.]*$/.test(word) ? 35 : /^\d+\/\d+$/.test(word) ? 47 : inner > 0 ? 112 : 111;
  }
  if ((first < 65 || first > 0x2000) && /^(?:[-–—/]+|->|=>|→|⇒|>+)$/.test(text.slice(at, end))) return 45;
  if (inner > 0) return 112;
  const last = text.charCodeAt(end - 1) | 32;
  const previous = text.charCodeAt(end - 2) | 32;
  // `quickly`, `created`, `creado`.
  if (last === 121 && previous === 108) return 97;
  if (last === 100 && previous === 101) return 68;
  if (last === 111 && previous === 100) return /[ai]do$/i.test(text.slice(at, end)) ? 71 : 111;
  if ((last === 116 || last === 108) && /n['’]t$|['’]ll$/i.test(text.slice(at, end))) return last === 116 ? 110 : 109;
  return 111;
}
