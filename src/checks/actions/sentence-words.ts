// Splits a sentence into words in one pass over its characters, and gives each word a class letter, so that statements are read from a short text of letters.
import { codeMark, quoteMark, type ClaimText, type Sentence } from './claim-text.ts';
import { hashCode, hashStart } from '../word-hash.ts';
import { LazyWord, type Word } from './lazy-word.ts';
import { createLetterSet, type LetterSet } from './letter-set.ts';
import { entries, lookUp } from './lexicon.ts';
import { figureStart, hasObjectWord, isPredicate, outcomeStart, readStart, maxPrefixLength } from './word-starts.ts';

/** A sentence as words, and one letter for each of them. */
export type SentenceWords = {
  readonly words: readonly Word[];
  readonly shape: string;
  /** The letters of the shape. */
  readonly letters: LetterSet;
  /** The sentence in lower case. */
  readonly lower: string;
  /** Whether a word is one of those beside figures and short results. */
  readonly mayHaveFigure: boolean;
};

/** What was read of a sentence. */
export type SplitSentence = {
  /** Its words; undefined if it has none of a claim. */
  readonly words: SentenceWords | undefined;
  /** Whether it can name an object of the log: it has code, a digit, a word of an outcome, or ends with a colon. */
  readonly mayNameObject: boolean;
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
const numbers = new Uint16Array(maxWords);
/** The class letters of entries by number, and 1 if an entry is a past form. */
const entryLetters = Uint8Array.from(entries, ({ code }) => code);
const entryVerbs = entries.map(({ verb }) => verb);
const entryPasts = Uint8Array.from(entries, ({ isPast }) => (isPast ? 1 : 0));
/** How many words at the start can stand before a verb without a subject: a label and adverbs. */
const maxLead = 9;

/**
 * Splits a sentence. Letters besides those of the lexicon: `k` code, `u` a quotation,
 * `p` a word or code with a dot or a slash, `#` a number, `-` a dash or an arrow, `D` a word that ends in "ed", `o` any other word.
 */
export function splitSentence({ answer, codes }: ClaimText, { text, start }: Sentence): SplitSentence {
  const length = start + Math.min(text.length, maxWords);
  let count = 0;
  let found = 0;
  let isBare = false;
  let mayNameObject = codes[length - 1] === 58;
  let started = 0;
  for (let i = start; i < length;) {
    const from = i;
    let code = codes[i] ?? 0;
    if (code === codePoint || code === quotePoint) {
      while (i < length && codes[i] === code) i++;
      if (code === codePoint) mayNameObject = true;
      const letter = code === quotePoint ? 117 : isName(answer, from, i) ? 112 : 107;
      count = addWord(count, letter, from - start, i - start);
      found |= bits[letter] ?? 0;
      continue;
    }
    // Most words are letters up to a space.
    let hash = hashStart;
    let lower = 0;
    let shared = -1;
    let startHash = hashStart;
    const fifth = from + maxPrefixLength;
    for (; i < length; i++) {
      code = codes[i] ?? 0;
      lower = lowerCodes[code] ?? 0;
      if (lower === 0) break;
      shared &= lower;
      hash = hashCode(hash, lower);
      if (i < fifth) startHash = hash;
    }
    if (i > from && (code === 32 || i >= length)) {
      const startKind = readStart(startHash);
      if ((shared & letterBits) !== letterBits) {
        // Behind a hyphen another word can begin.
        started |= figureStart;
        mayNameObject ||= hasObjectWord(codes, from, i, length);
      } else if (startKind > 0) {
        started |= startKind;
        if ((startKind & outcomeStart) > 0) mayNameObject ||= isPredicate(codes, i, length);
      }
      const number = lookUp(hash);
      if (number > 0) {
        if (entryPasts[number] === 1) {
          found |= groups.past;
          if (count < maxLead) isBare = true;
        }
        const letter = entryLetters[number] ?? 0;
        count = addWord(count, letter, from - start, i - start, number);
        found |= bits[letter] ?? 0;
      } else {
        const isCommon = (shared & letterBits) === letterBits && endings[codes[i - 1] ?? 0] === 0;
        const letter = isCommon ? 111 : letterOf(text, codes, from, i, start, 0);
        count = addWord(count, letter, from - start, i - start, 0);
        found |= bits[letter] ?? 0;
      }
      i++;
      continue;
    }
    // Other words have signs: the hash is without those behind the word, and a dot or a slash inside is kept.
    const isOneWord = i > from && (i + 1 >= length || ((signs[codes[i + 1] ?? 0] ?? 0) & gap) > 0);
    i = from;
    while (i < length && ((signs[codes[i] ?? 0] ?? 0) & before) > 0) i++;
    const at = i;
    let end = i;
    started |= isOneWord ? readStart(startHash) : figureStart;
    hash = hashStart;
    let wordHash = hashStart;
    let inner = 0;
    let wordInner = 0;
    for (;;) {
      let lower = 0;
      for (; i < length; i++) {
        code = codes[i] ?? 0;
        lower = lowerCodes[code] ?? 0;
        if (lower === 0) break;
        hash = hashCode(hash, lower);
      }
      const sign = i < length ? (signs[code] ?? 0) : gap;
      if ((i > at && lower === 0 && ((signs[codes[i - 1] ?? 0] ?? 0) & behind) === 0) || (i >= length && lower !== 0)) {
        end = i;
        wordHash = hash;
        wordInner = inner;
      }
      if ((sign & gap) > 0) break;
      hash = hashCode(hash, code);
      inner |= sign & (dot | ideograph);
      i++;
      if ((sign & behind) === 0) {
        end = i;
        wordHash = hash;
        wordInner = inner;
      }
    }
    mayNameObject ||= hasObjectWord(codes, at, i, length);
    for (let sign = from; sign < at; sign++) count = addSign(count, codes, sign, start);
    if (end > at) {
      const number = lookUp(wordHash);
      const letter = number > 0 ? (entryLetters[number] ?? 0) : letterOf(text, codes, at, end, start, wordInner);
      if (entryPasts[number] === 1) {
        found |= groups.past;
        if (count < maxLead) isBare = true;
      }
      count = addWord(count, letter, at - start, end - start, number);
      found |= bits[letter] ?? 0;
    }
    for (let sign = end > at ? end : at; sign < i; sign++) count = addSign(count, codes, sign, start);
    while (i < length && isSpace(codes[i] ?? 0)) i++;
  }
  const isClaim = isPossible(found, isBare, letters[0] ?? 0);
  return { words: isClaim ? collect(text, count, (started & figureStart) > 0) : undefined, mayNameObject };
}

/** Bits that all letters from a to z have, but no digit and no hyphen. */
const letterBits = 0x60;

/** The last letters, in both cases, of words whose ending says what they are; other words of letters from a to z are any words. */
const endings = new Uint8Array(0x10000);
for (const letter of 'ydotlYDOTL') endings[codeOf(letter)] = 1;

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160;

function addWord(count: number, letter: number, at: number, end: number, number = 0): number {
  starts[count] = at;
  ends[count] = end;
  letters[count] = letter;
  numbers[count] = number;
  return count + 1;
}

/** Whether words of these groups can make a claim together. */
const isPossible = (found: number, isBare: boolean, first: number): boolean =>
  isBare ||
  (found & (groups.foreign | groups.files)) > 0 ||
  first === 107 ||
  first === 112 ||
  first === 48 ||
  first === 101 ||
  hasBoth(found, groups.own | groups.help, groups.past) ||
  hasBoth(found, groups.own, groups.none | groups.help | groups.gerund) ||
  hasBoth(found, groups.outcome, groups.noun) ||
  hasBoth(found, groups.report | groups.now, groups.value);

/** Whether two sets of groups are found, with at least one group of each. */
const hasBoth = (found: number, some: number, others: number): boolean => (found & some) > 0 && (found & others) > 0;

const letterBytes = Buffer.from(letters.buffer);

function collect(text: string, count: number, mayHaveFigure: boolean): SentenceWords {
  const lowered = text.toLowerCase();
  const lower = lowered.length === text.length ? lowered : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const words: Word[] = [];
  for (let i = 0; i < count; i++)
    words.push(new LazyWord(starts[i] ?? 0, ends[i] ?? 0, lower, entryVerbs[numbers[i] ?? 0]));
  const shape = letterBytes.toString('latin1', 0, count);
  return { words, shape, letters: createLetterSet(letters, count), lower, mayHaveFigure };
}

/** Whether code is one word with a dot or a slash, such as the name of a file. */
function isName(answer: string, from: number, to: number): boolean {
  const text = answer.slice(from, to);
  return !text.includes(' ') && (text.includes('.') || text.includes('/'));
}

function addSign(count: number, codes: Uint16Array, at: number, start: number): number {
  const code = codes[at] ?? 0;
  const letter = code < 128 ? (signLetters[code] ?? 0) : code === 0x2026 ? 46 : 0;
  return letter > 0 ? addWord(count, letter, at - start, at - start + 1) : count;
}

/** The letter of a word that the lexicon does not have; `inner` says whether it has a dot, a slash or an ideograph. */
function letterOf(text: string, codes: Uint16Array, at: number, end: number, start: number, inner: number): number {
  if ((inner & ideograph) > 0) return 71;
  const first = codes[at] ?? 0;
  if (isDigit(first)) {
    const word = text.slice(at - start, end - start);
    return /^\d[\d,.]*$/.test(word) ? 35 : /^\d+\/\d+$/.test(word) ? 47 : inner > 0 ? 112 : 111;
  }
  if ((first < 65 || first > 0x2000) && /^(?:[-–—/]+|->|=>|→|⇒|>+)$/.test(text.slice(at - start, end - start)))
    return 45;
  if (inner > 0) return 112;
  const last = (codes[end - 1] ?? 0) | 32;
  const previous = (codes[end - 2] ?? 0) | 32;
  // `quickly`, `created`, `creado`.
  if (last === 121 && previous === 108) return 97;
  if (last === 100 && previous === 101) return 68;
  if (last === 111 && previous === 100) return /[ai]do$/i.test(text.slice(at - start, end - start)) ? 71 : 111;
  const isShort = last === 116 ? previous === 39 || codes[end - 2] === 0x2019 : last === 108 && previous === 108;
  if (isShort && /n['’]t$|['’]ll$/i.test(text.slice(at - start, end - start))) return last === 116 ? 110 : 109;
  return 111;
}
