// Says in one pass over the characters of a claim which verifiers may have something to do; what it says is checked again by their patterns.
import { numberWords } from './numbers.ts';
import { getUnitTable } from './unit-table.ts';
import { hashCode, hashStart, hashWord } from '../word-hash.ts';

/** What a text may contain, as bits. A text without a bit has nothing of its kind; a text with it may have it. */
export const traits = {
  digit: 1,
  numberWord: 2,
  /** A sign or a word of an operation of arithmetic. */
  operation: 4,
  /** A sign or a word that relates two values. */
  relation: 8,
  /** An article or a number word with a unit after it. */
  unit: 16,
  /** An opening quotation mark, or `>`. */
  quotation: 32,
  /** A backtick or a tilde. */
  tick: 64,
  slash: 128,
  /** A capital letter after the first character, or a character that is not ASCII. */
  capital: 256,
  /** White space that is not a single space, or a character that is not ASCII. */
  uneven: 512,
  /** A digit, a number word or an operation, and a relation behind it. */
  statement: 1024,
} as const;

const articleBit = 2048;
const unitBit = 4096;
/** What a statement of arithmetic has before its relation. */
const operandBits = traits.digit | traits.numberWord | traits.operation;

const operationWords =
  'plus minus times divided multiplied over mod modulo out sum product average mean difference remainder root half third quarter fifth tenth twice double triple percent per prime even odd divisible multiple divisor squared cubed power';
const relationWords =
  'is are equal equals give gives make makes yields comes amounts adds results leaves has have contain contains corresponds converts';
const articles = 'a an one hundred thousand million billion trillion';

/** The bits of words, at the lowest bits of a hash of their letters in lower case. Words with the same place share their bits. */
function createVocabulary(): Uint16Array {
  const bits = new Uint16Array(places);
  const addAll = (words: Iterable<string>, bit: number): void => {
    for (const word of words) bits[hashWord(word) & (places - 1)] = (bits[hashWord(word) & (places - 1)] ?? 0) | bit;
  };
  addAll(operationWords.split(' '), traits.operation);
  addAll(relationWords.split(' '), traits.relation);
  addAll(articles.split(' '), articleBit);
  addAll(numberWords.keys(), traits.numberWord);
  addAll(getUnitTable().firstWords, unitBit);
  return bits;
}

/** A power of two that is large beside the number of words. */
const places = 16_384;
let vocabulary: Uint16Array | undefined;

/** Whether a byte is a small letter (1) or a capital one (2). */
const kinds = new Uint8Array(256);
const capital = 2;
for (let code = 65; code <= 90; code++) [kinds[code], kinds[code | 32]] = [capital, 1];

/** The bits of ASCII characters that are no letters. */
const charBits = new Uint16Array(128);
const setBits = (chars: string, bit: number): void => {
  for (const char of chars) charBits[char.charCodeAt(0)] = (charBits[char.charCodeAt(0)] ?? 0) | bit;
};
setBits('0123456789', traits.digit);
setBits('+*^%$', traits.operation);
setBits('=<>~(', traits.relation);
setBits('">', traits.quotation);
setBits('`~', traits.tick);
setBits('/', traits.slash);
setBits('\t\n\u000b\f\r', traits.uneven);

/** The bits of a character that is not ASCII: it may be a sign, a quotation mark or a capital letter. */
const otherBits =
  traits.operation | traits.relation | traits.statement | traits.quotation | traits.capital | traits.uneven;

/** The last text, since all verifiers are asked about one claim after the other. */
let last: { readonly text: string; readonly found: number } | undefined;

/** Whether a text may contain all of these traits. */
export function hasTraits(text: string, wanted: number): boolean {
  if (last?.text !== text) last = { text, found: readTraits(text) };
  return (last.found & wanted) === wanted;
}

/** Whether a text may contain one of these traits. */
export function hasSomeTrait(text: string, wanted: number): boolean {
  if (last?.text !== text) last = { text, found: readTraits(text) };
  return (last.found & wanted) !== 0;
}

const encoder = new TextEncoder();
/** The characters of a text of this length have at most three bytes each. */
const maxChars = 10_000;
const bytes = new Uint8Array(maxChars * 3 + 1);

/** Reads the bytes of a text, which is several times faster than its characters. A long text may have everything. */
function readTraits(text: string): number {
  if (text.length > maxChars) return -1;
  const words = (vocabulary ??= createVocabulary());
  const end = encoder.encodeInto(text, bytes).written;
  // No letter: a word ends there.
  bytes[end] = 0;
  let found = 0;
  let previous = 0;
  for (let at = 0; at < end;) {
    let code = bytes[at] ?? 0;
    let kind = kinds[code] ?? 0;
    if (kind !== 0) {
      // The first character of a text is no capital letter that counts.
      let capitals = at === 0 ? 0 : kind;
      let hash = hashStart;
      do {
        hash = hashCode(hash, code | 32);
        at += 1;
        code = bytes[at] ?? 0;
        kind = kinds[code] ?? 0;
        capitals |= kind;
      } while (kind !== 0);
      if ((capitals & capital) !== 0) found |= traits.capital;
      const bits = words[hash & (places - 1)] ?? 0;
      if (bits === 0) previous = 0;
      else {
        found |= bits;
        if ((bits & traits.relation) !== 0 && (found & operandBits) !== 0) found |= traits.statement;
        if ((bits & unitBit) !== 0 && (previous & articleBit) !== 0) found |= traits.unit;
        previous = bits;
      }
    } else {
      if (code === 32) found |= (bytes[at + 1] ?? 0) <= 32 && at + 1 < end ? traits.uneven : 0;
      else if (code > 127) found |= otherBits;
      else {
        const bits = charBits[code] ?? 0;
        found |= bits;
        if ((bits & traits.relation) !== 0 && (found & operandBits) !== 0) found |= traits.statement;
      }
      at += 1;
    }
  }
  return found;
}
