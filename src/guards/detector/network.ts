// The network of the injection detector: two convolutions over the words of a window, pooling, and a hidden layer. Returns a logit.
import { projectionSize, type WordProjections } from './word-projections.ts';
import {
  blockFeatures,
  blockSpan,
  hiddenInputs,
  hiddenSize,
  wordFeatures,
  wordSpan,
  type DetectorWeights,
} from './weights.ts';

/** Words that the second convolution sees as one block: the maximum of their features. */
const blockWords = 4;
const wordReach = (wordSpan - 1) / 2;
const blockOutputs = blockSpan * blockFeatures;
/** Blocks that the second convolution reads together, so that a weight is loaded once for all of them. */
const tileBlocks = 4;
/** The score of a window without words. */
const emptyScore = -30;

/** Scores windows of words. Buffers are reused, so that it is not to be called while it runs. */
export class DetectorNetwork {
  readonly #weights: DetectorWeights;
  readonly #words: WordProjections;
  /** Where the projection of each word starts, after and before words that add nothing. */
  readonly #starts: Int32Array;
  readonly #sums = new Float64Array(wordFeatures);
  readonly #maxima = new Float64Array(wordFeatures);
  /** The features of four blocks: the four values of a feature are side by side. */
  readonly #blocks = new Float64Array(wordFeatures * tileBlocks);
  /** The features that are not zero in each of the four blocks. */
  readonly #used = new Int32Array(wordFeatures);
  /** What the blocks add to the second convolution, by block, position and output. */
  readonly #added: Float64Array;
  readonly #blockMaxima = new Float64Array(blockFeatures);
  readonly #inputs = new Float64Array(hiddenInputs);

  constructor(weights: DetectorWeights, words: WordProjections, maxWords: number) {
    this.#weights = weights;
    this.#words = words;
    this.#starts = new Int32Array(maxWords + 2 * wordReach);
    this.#added = new Float64Array((Math.ceil(maxWords / blockWords) + tileBlocks + 2) * blockOutputs);
  }

  /** Scores the first words of a list of word numbers. */
  score(numbers: Int32Array, count: number, channel: number): number {
    if (count === 0) return emptyScore;
    const starts = this.#starts;
    starts.fill(0, 0, wordReach);
    for (let i = 0; i < count; i++) starts[i + wordReach] = numbers[i]! * projectionSize;
    starts.fill(0, count + wordReach, count + 2 * wordReach);
    this.#sums.fill(0);
    this.#maxima.fill(0);
    this.#blockMaxima.fill(0);
    const blocks = Math.ceil(count / blockWords);
    // There is an empty block before the first and after the last one.
    this.#added.fill(0, 0, (blocks + 2) * blockOutputs);
    for (let tile = 0; tile < blocks; tile += tileBlocks) {
      if (tile + tileBlocks > blocks) this.#blocks.fill(0);
      for (let place = 0; place < tileBlocks && tile + place < blocks; place++) {
        const first = (tile + place) * blockWords;
        if (first + blockWords <= count) this.#readBlock(first, place);
        else this.#readWords(first, count, place);
      }
      this.#addBlocks((tile + 1) * blockOutputs);
    }
    this.#poolBlocks(blocks);
    return this.#scoreFeatures(count, channel);
  }

  /** The first convolution for four words: positive outputs are summed, and their maximum becomes the block. */
  #readBlock(first: number, place: number): void {
    const { wordBias } = this.#weights;
    const { values } = this.#words;
    const sums = this.#sums;
    const maxima = this.#maxima;
    const blocks = this.#blocks;
    const starts = this.#starts;
    const w0 = starts[first]!;
    const w1 = starts[first + 1]!;
    const w2 = starts[first + 2]!;
    const w3 = starts[first + 3]!;
    const w4 = starts[first + 4]!;
    const w5 = starts[first + 5]!;
    const w6 = starts[first + 6]!;
    const w7 = starts[first + 7]!;
    const w8 = starts[first + 8]!;
    const w9 = starts[first + 9]!;
    for (let i = 0; i < wordFeatures; i++) {
      const i1 = i + wordFeatures;
      const i2 = i1 + wordFeatures;
      const i3 = i2 + wordFeatures;
      const i4 = i3 + wordFeatures;
      const i5 = i4 + wordFeatures;
      const i6 = i5 + wordFeatures;
      const bias = wordBias[i]!;
      const a = Math.max(
        0,
        bias +
          values[w0 + i]! +
          values[w1 + i1]! +
          values[w2 + i2]! +
          (values[w3 + i3]! + values[w4 + i4]! + values[w5 + i5]! + values[w6 + i6]!),
      );
      const b = Math.max(
        0,
        bias +
          values[w1 + i]! +
          values[w2 + i1]! +
          values[w3 + i2]! +
          (values[w4 + i3]! + values[w5 + i4]! + values[w6 + i5]! + values[w7 + i6]!),
      );
      const c = Math.max(
        0,
        bias +
          values[w2 + i]! +
          values[w3 + i1]! +
          values[w4 + i2]! +
          (values[w5 + i3]! + values[w6 + i4]! + values[w7 + i5]! + values[w8 + i6]!),
      );
      const d = Math.max(
        0,
        bias +
          values[w3 + i]! +
          values[w4 + i1]! +
          values[w5 + i2]! +
          (values[w6 + i3]! + values[w7 + i4]! + values[w8 + i5]! + values[w9 + i6]!),
      );
      const max = Math.max(Math.max(a, b), Math.max(c, d));
      blocks[i * tileBlocks + place] = max;
      sums[i] = sums[i]! + (a + b + (c + d));
      maxima[i] = Math.max(maxima[i]!, max);
    }
  }

  /** The same for the words of the last block, which may be fewer. */
  #readWords(first: number, count: number, place: number): void {
    const { wordBias } = this.#weights;
    const { values } = this.#words;
    for (let i = 0; i < wordFeatures; i++) {
      let max = 0;
      for (let word = first; word < count; word++) {
        let sum = wordBias[i]!;
        for (let position = 0; position < wordSpan; position++)
          sum += values[this.#starts[word + position]! + position * wordFeatures + i]!;
        if (sum <= 0) continue;
        this.#sums[i] = this.#sums[i]! + sum;
        max = Math.max(max, sum);
      }
      this.#blocks[i * tileBlocks + place] = max;
      this.#maxima[i] = Math.max(this.#maxima[i]!, max);
    }
  }

  /** Writes what four blocks give to the second convolution, at each of its positions. Features that are zero in all of them are skipped. */
  #addBlocks(start: number): void {
    const { blockWeights } = this.#weights;
    const added = this.#added;
    const blocks = this.#blocks;
    const used = this.#used;
    let count = 0;
    for (let i = 0; i < wordFeatures; i++) {
      const at = i * tileBlocks;
      if (blocks[at]! + blocks[at + 1]! + blocks[at + 2]! + blocks[at + 3]! > 0) used[count++] = i;
    }
    // Three outputs of four blocks at a time fit into the registers of a processor.
    for (let output = 0; output < blockOutputs; output += 3) {
      let a0 = 0;
      let a1 = 0;
      let a2 = 0;
      let b0 = 0;
      let b1 = 0;
      let b2 = 0;
      let c0 = 0;
      let c1 = 0;
      let c2 = 0;
      let d0 = 0;
      let d1 = 0;
      let d2 = 0;
      for (let i = 0; i < count; i++) {
        const feature = used[i]!;
        const weight = feature * blockOutputs + output;
        const w0 = blockWeights[weight]!;
        const w1 = blockWeights[weight + 1]!;
        const w2 = blockWeights[weight + 2]!;
        const at = feature * tileBlocks;
        const a = blocks[at]!;
        const b = blocks[at + 1]!;
        const c = blocks[at + 2]!;
        const d = blocks[at + 3]!;
        a0 += a * w0;
        a1 += a * w1;
        a2 += a * w2;
        b0 += b * w0;
        b1 += b * w1;
        b2 += b * w2;
        c0 += c * w0;
        c1 += c * w1;
        c2 += c * w2;
        d0 += d * w0;
        d1 += d * w1;
        d2 += d * w2;
      }
      let at = start + output;
      added[at] = a0;
      added[at + 1] = a1;
      added[at + 2] = a2;
      at += blockOutputs;
      added[at] = b0;
      added[at + 1] = b1;
      added[at + 2] = b2;
      at += blockOutputs;
      added[at] = c0;
      added[at + 1] = c1;
      added[at + 2] = c2;
      at += blockOutputs;
      added[at] = d0;
      added[at + 1] = d1;
      added[at + 2] = d2;
    }
  }

  /** The second convolution: the sum over neighbours, and its maximum over all blocks. */
  #poolBlocks(blocks: number): void {
    const { blockBias } = this.#weights;
    const added = this.#added;
    const maxima = this.#blockMaxima;
    for (let block = 0; block < blocks; block++) {
      const before = block * blockOutputs;
      const here = before + blockOutputs + blockFeatures;
      const after = before + 2 * (blockOutputs + blockFeatures);
      for (let i = 0; i < blockFeatures; i++) {
        const sum = blockBias[i]! + added[before + i]! + added[here + i]! + added[after + i]!;
        if (sum > maxima[i]!) maxima[i] = sum;
      }
    }
  }

  #scoreFeatures(count: number, channel: number): number {
    const { hiddenWeights, hiddenBias, outputWeights, outputBias } = this.#weights;
    const inputs = this.#inputs.fill(0);
    inputs.set(this.#maxima);
    for (let i = 0; i < wordFeatures; i++) inputs[wordFeatures + i] = this.#sums[i]! / count;
    inputs.set(this.#blockMaxima, 2 * wordFeatures);
    inputs[2 * wordFeatures + blockFeatures + channel] = 1;
    let score = outputBias;
    for (let unit = 0; unit < hiddenSize; unit++) {
      let sum = hiddenBias[unit]!;
      for (let i = 0; i < hiddenInputs; i++) sum += hiddenWeights[unit * hiddenInputs + i]! * inputs[i]!;
      if (sum > 0) score += sum * outputWeights[unit]!;
    }
    return score;
  }
}
