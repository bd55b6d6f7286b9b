// The first convolution of the injection detector, computed once for each word: what the word adds to each output at each position.
import { longWord } from './split-words.ts';
import { tableRows, vectorSize, wordFeatures, wordSpan, type DetectorWeights } from './weights.ts';

/** Numbers of one projection: one for each position of the word in the span, and output. */
export const projectionSize: number = wordSpan * wordFeatures;
/** About 29 MB. When they are used up, the words are computed again. */
const maxWords = 16_384;
const initialWords = 1024;
/** Words have at most this many parts of four characters. */
const maxParts = 12;
const partChars = 4;

/** The projections of words by number. Number 0 is no word: it adds nothing. */
export class WordProjections {
  /** All projections in a row. It is replaced when it grows. */
  values: Float32Array = new Float32Array(initialWords * projectionSize);
  readonly #numbers = new Map<string, number>();
  readonly #weights: DetectorWeights;
  readonly #vector = new Float64Array(vectorSize);
  readonly #sums = new Float64Array(projectionSize);

  constructor(weights: DetectorWeights) {
    this.#weights = weights;
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
    if ((number + 1) * projectionSize > this.values.length) {
      const larger = new Float32Array(Math.min(maxWords, 2 * (number + 1)) * projectionSize);
      larger.set(this.values);
      this.values = larger;
    }
    this.#project(word);
    this.values.set(this.#sums, number * projectionSize);
    return number;
  }

  #project(word: string): void {
    const { wordWeights } = this.#weights;
    const vector = this.#vector.fill(0);
    const sums = this.#sums.fill(0);
    this.#addRow(hashText('w', word, 0, word.length), 1);
    if (hasParts(word)) this.#addParts(`<${word}>`);
    // Four inputs at a time; the size of a vector is a multiple of four.
    for (let input = 0; input < vectorSize; input += 4) {
      const a = vector[input] ?? 0;
      const b = vector[input + 1] ?? 0;
      const c = vector[input + 2] ?? 0;
      const d = vector[input + 3] ?? 0;
      let at = input * projectionSize;
      for (let i = 0; i < projectionSize; i++, at++)
        sums[i] =
          sums[i]! +
          a * wordWeights[at]! +
          b * wordWeights[at + projectionSize]! +
          c * wordWeights[at + 2 * projectionSize]! +
          d * wordWeights[at + 3 * projectionSize]!;
    }
  }

  /** Adds the mean of the rows of the parts of a word. */
  #addParts(word: string): void {
    const count = Math.min(maxParts, word.length - partChars + 1);
    for (let at = 0; at < count; at++) this.#addRow(hashText('c', word, at, at + partChars), 1 / count);
  }

  #addRow(hash: number, factor: number): void {
    const { table } = this.#weights;
    const start = (hash & (tableRows - 1)) * vectorSize;
    for (let i = 0; i < vectorSize; i++) this.#vector[i] = this.#vector[i]! + factor * table[start + i]!;
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
