// Reads the content words of a sentence as hashes: its subject, its numbers, and whether it denies or describes.
import { negatingWords } from '../words.ts';
import { contraryWords, oppositeWords } from './contrary-words.ts';
import { hashCode, hashStart, hashWord } from '../word-hash.ts';

/** The words of a sentence or clause. */
export type Statement = {
  /** The hashes of the content words without their endings, each once, in the order of their first use. */
  readonly words: readonly number[];
  readonly isDenied: boolean;
  /** The words before the first auxiliary, or the first word. */
  readonly subject: readonly number[];
  /** The numbers of the subject. */
  readonly subjectNumbers: readonly number[];
  /** Whether the auxiliary says what the subject is. */
  readonly isDescription: boolean;
  readonly numbers: readonly number[];
  /** The words with a capital letter that are not the first. */
  readonly names: readonly number[];
  /** Whether it starts with a content word, which may be a name. */
  readonly startsPlainly: boolean;
  /** Whether it has an auxiliary; without one it may be the row of a table. */
  readonly hasAuxiliary: boolean;
  /** Whether it says of its subject that it ended, is missing or is forbidden. */
  readonly isContrary: boolean;
  /** Whether the first word is of a script without spaces; a word of it is a pair of characters. */
  readonly isIdeographic: boolean;
};

const hashAll = (words: string): ReadonlySet<number> => new Set(words.split(' ').map(hashWord));

const smallWords = hashAll(
  'a an the of in on at to for from by with within into onto upon via per between than then also and or but as that this these those it its they them their he she his her we our you your there here ' +
    'is are was were be been being has have had do does did will would shall should can could may might must ' +
    'der die das ein eine einer eines den dem des und oder ist sind war waren im am zu von mit le la les un une du de et ou est sont el los las y o es son en',
);
/** Words after which the subject of a sentence is complete. */
const verbs = hashAll(
  'is are was were has have had do does did will would shall should can could may might must ist sind war waren hat haben est sont es son',
);
const descriptionVerbs = hashAll('is are was were ist sind war waren est sont es son');
const denyingWords = hashAll(
  `${negatingWords.join(' ')} cannot without nothing nobody nowhere nicht kein keine keinen nie niemals pas jamais aucun nunca ningún sin`,
);
const wordOf = hashWord('of');

const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\d+(?:[.,:]\d+)*|[\p{L}\p{M}]+(?:['’]\p{L}+)?/gu;
const ideograph = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The word without its usual endings. */
const stem = (word: string): string => {
  const cut = word.replace(/['’]s$/, '').replace(/(?:ings?|ed|es|s|e)$/, '');
  return cut.length >= minStem ? cut : word;
};
const minStem = 3;

const stemAll = (words: string): readonly number[] => words.split(' ').map((word) => hashWord(stem(word)));
const contraryStems = new Set(stemAll(contraryWords));

/** The stems that exclude a stem. */
export const opposites: ReadonlyMap<number, ReadonlySet<number>> = createOpposites();

function createOpposites(): ReadonlyMap<number, ReadonlySet<number>> {
  const map = new Map<number, Set<number>>();
  for (const pair of oppositeWords) {
    const [one, other] = pair.map(stemAll) as [readonly number[], readonly number[]];
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      for (const word of from) map.set(word, new Set([...(map.get(word) ?? []), ...to]));
  }
  return map;
}

/** More words than this are looked up in a set. */
const maxListed = 40;

/** Collects the words of one statement after the other. */
class StatementReader {
  words: number[] = [];
  #set: Set<number> | undefined;
  #numbers: number[] = [];
  #subject: readonly number[] | undefined;
  #isDescription = false;
  #names: number[] = [];
  #contrary: number[] = [];
  #startsPlainly: boolean | undefined;
  isDenied = false;
  isIdeographic = false;
  /** Without an auxiliary, the subject is the first word, and what follows it after "of". */
  #head = 1;
  #isAfterOf = false;

  add(hash: number): void {
    if (this.words.length < maxListed ? this.words.includes(hash) : this.#isKnown(hash)) return;
    this.words.push(hash);
    this.#set?.add(hash);
  }

  #isKnown(hash: number): boolean {
    this.#set ??= new Set(this.words);
    return this.#set.has(hash);
  }

  addNumber(hash: number): void {
    if (this.#numbers.length < maxListed) this.#numbers.push(hash);
    this.add(hash);
  }

  addContent(hash: number, isCapital: boolean): void {
    this.#startsPlainly ??= isCapital;
    if (isCapital && this.words.length > 0 && this.#names.length < maxListed) this.#names.push(hash);
    if (this.#contrary.length < maxListed && contraryStems.has(hash)) this.#contrary.push(hash);
    this.add(hash);
    if (this.#isAfterOf) this.#head = this.words.length;
    this.#isAfterOf = false;
  }

  addSmall(full: number): void {
    this.#startsPlainly ??= false;
    if (this.#subject === undefined && this.words.length > 0 && verbs.has(full)) {
      this.#subject = this.words.slice();
      this.#isDescription = descriptionVerbs.has(full);
    }
    if (full === wordOf && this.words.length === this.#head) this.#isAfterOf = true;
  }

  end(): Statement {
    const subject = this.#subject ?? this.words.slice(0, this.#head);
    return {
      words: this.words,
      isDenied: this.isDenied,
      subject,
      // With too many numbers none is taken as that of an item.
      subjectNumbers: this.#numbers.length < maxListed ? this.#numbers.filter((each) => subject.includes(each)) : [],
      numbers: this.#numbers,
      names: this.#names,
      startsPlainly: this.#startsPlainly === true,
      hasAuxiliary: this.#subject !== undefined,
      isContrary: this.#contrary.some((word) => this.#subject?.includes(word) !== true),
      isDescription: this.#isDescription,
      isIdeographic: this.isIdeographic,
    };
  }
}

const wordMay = hashWord('may');

/** Whether a word is the month of May instead of the auxiliary. */
const isMonth = (full: number, isCapital: boolean, { words }: StatementReader): boolean =>
  isCapital && full === wordMay && words.length > 0;

const [digit, letter] = [1, 2];
const kinds = new Uint8Array(256);
for (let code = 0; code < 128; code++)
  if (code >= 48 && code <= 57) kinds[code] = digit;
  else if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) kinds[code] = letter;

/** The end of a word of ASCII letters without its usual endings. */
function findStemEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = (back: number): number => (bytes[cut - back] ?? 0) | 32;
  let cut = end;
  // 's
  if (end - start > 2 && at(1) === 115 && bytes[end - 2] === 39) cut = end - 2;
  const isS = at(1) === 115;
  // ings, ing, es, ed, s, e
  if (cut - start >= 4 && isS && at(2) === 103 && at(3) === 110 && at(4) === 105) cut -= 4;
  else if (cut - start >= 3 && at(1) === 103 && at(2) === 110 && at(3) === 105) cut -= 3;
  else if (cut - start >= 2 && (isS || at(1) === 100) && at(2) === 101) cut -= 2;
  else if (cut - start >= 1 && (isS || at(1) === 101)) cut -= 1;
  return cut - start >= minStem ? cut : end;
}

/** Reads the statement between two offsets of a text of ASCII characters. */
export function readAsciiStatement(bytes: Uint8Array, from: number, to: number): Statement {
  const reader = new StatementReader();
  for (let at = from; at < to;) {
    const kind = kinds[bytes[at] ?? 0];
    if (kind === letter) {
      const start = at;
      let full = hashStart;
      const readLetters = (): void => {
        while (at < to && kinds[bytes[at] ?? 0] === letter) full = hashCode(full, (bytes[at++] ?? 0) | 32);
      };
      readLetters();
      if (bytes[at] === 39 && at + 1 < to && kinds[bytes[at + 1] ?? 0] === letter) {
        full = hashCode(full, 39);
        at += 1;
        readLetters();
      }
      const isShort =
        bytes[at - 2] === 39 && ((bytes[at - 1] ?? 0) | 32) === 116 && ((bytes[at - 3] ?? 0) | 32) === 110;
      if ((isShort && at - start > 2) || denyingWords.has(full)) reader.isDenied = true;
      else if (smallWords.has(full) && !isMonth(full, (bytes[start] ?? 0) < 97, reader)) reader.addSmall(full);
      else {
        const end = findStemEnd(bytes, start, at);
        let hash = full;
        if (end < at) {
          hash = hashStart;
          for (let each = start; each < end; each++) hash = hashCode(hash, toLower(bytes[each] ?? 0));
        }
        reader.addContent(hash, (bytes[start] ?? 0) < 97);
      }
    } else if (kind === digit) {
      let hash = hashStart;
      for (; at < to; at++) {
        const code = bytes[at] ?? 0;
        const isInside = code === 46 || code === 44 || code === 58;
        if (kinds[code] === digit || (isInside && at + 1 < to && kinds[bytes[at + 1] ?? 0] === digit))
          hash = hashCode(hash, code);
        else break;
      }
      reader.addNumber(hash);
    } else at += 1;
  }
  return reader.end();
}

const toLower = (code: number): number => (kinds[code] === letter ? code | 32 : code);

/** Reads a statement of any characters. */
export function readAnyStatement(text: string): Statement {
  const reader = new StatementReader();
  for (const [written] of text.matchAll(wordPattern)) {
    const found = written.toLowerCase();
    const hash = hashWord(found);
    if (ideograph.test(found)) {
      reader.isDenied ||= /[不没未无非]/u.test(found);
      reader.isIdeographic ||= reader.words.length === 0;
      if (found.length === 1) reader.add(hash);
      for (let at = 0; at + 1 < found.length; at++) reader.add(hashWord(found.slice(at, at + 2)));
    } else if (/^\d/.test(found)) reader.addNumber(hash);
    else if (denyingWords.has(hash) || /n['’]t$/.test(found)) reader.isDenied = true;
    else if (smallWords.has(hash) && !isMonth(hash, /^\p{Lu}/u.test(written), reader)) reader.addSmall(hash);
    else reader.addContent(hashWord(stem(found)), /^\p{Lu}/u.test(written));
  }
  return reader.end();
}

const encoder = new TextEncoder();

/** The bytes of a text of ASCII characters only; undefined if it has others. */
export function encodeAscii(text: string): Uint8Array | undefined {
  const bytes = encoder.encode(text);
  return bytes.length === text.length ? bytes : undefined;
}

/** Reads the words of a sentence or clause. */
export function readStatement(text: string): Statement {
  const bytes = encodeAscii(text);
  return bytes ? readAsciiStatement(bytes, 0, bytes.length) : readAnyStatement(text);
}
