// The first convolution of the injection detector, computed once for each word: what the word adds to each output at each position.
import { longWord } from './split-words.ts';
import { maxWords, type DetectorKernel } from './kernel.ts';
import { tableRows, vectorSize, type DetectorWeights } from './weights.ts';

/** Words have at most this many parts of four characters. */
const maxParts = 12;
const partChars = 4;

/** The projections of words by number. When the numbers are used up, the words are computed again. */
export class WordProjections {
  readonly #numbers = new Map<string, number>();
  readonly #table: Int8Array;
  readonly #kernel: DetectorKernel;

  constructor({ table }: DetectorWeights, kernel: DetectorKernel) {
    this.#table = table;
    this.#kernel = kernel;
  }

  /** Whether so many more words may not fit, so that it is to be cleared before a text is read. */
  isNearlyFull(words: number): boolean {
    return this.#numbers.size + words + 1 >= maxWords;
  }

  /** Forgets all words. */
  clear(): void {
    this.#numbers.clear();
  }

  /** The number of a word. */
  numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#numbers.size + 1;
    this.#numbers.set(word, number);
    this.#kernel.vector.fill(0);
    this.#addRow(hashText('w', word, 0, word.length), 1);
    if (hasParts(word)) this.#addParts(`<${word}>`);
    this.#kernel.project(number);
    return number;
  }

  /** Adds the mean of the rows of the parts of a word. */
  #addParts(word: string): void {
    const count = Math.min(maxParts, word.length - partChars + 1);
    for (let at = 0; at < count; at++) this.#addRow(hashText('c', word, at, at + partChars), 1 / count);
  }

  #addRow(hash: number, factor: number): void {
    const table = this.#table;
    const { vector } = this.#kernel;
    const start = (hash & (tableRows - 1)) * vectorSize;
    for (let i = 0; i < vectorSize; i++) vector[i] = vector[i]! + factor * table[start + i]!;
  }
}

/** Numbers, characters of two code units, and words that are too long have no parts. */
function hasParts(word: string): boolean {
  const first = word.charCodeAt(0);
  const isNumber = first >= 0x30 && first <= 0x39;
  const isPair = first >= 0xd800 && first < 0xdc00;
  return word.length > 1 && word !== longWord && !isNumber && !isPair;
}

/** FNV-1a over UTF-16 code units, with its upper bits folded into the lower ones. */
function hashText(kind: 'w' | 'c', text: string, from: number, to: number): number {
  const prime = 0x01000193;
  let hash = Math.imul(0x811c9dc5 ^ kind.charCodeAt(0), prime);
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return (hash ^ (hash >>> 15)) >>> 0;
}
