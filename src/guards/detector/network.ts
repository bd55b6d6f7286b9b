// The network of the injection detector: two convolutions over the words of a window, pooling, and a hidden layer. Returns a logit.
import { addressOf, blockOutputs, blockWords, type DetectorKernel } from './kernel.ts';
import { blockFeatures, hiddenInputs, hiddenSize, wordFeatures, wordSpan, type DetectorWeights } from './weights.ts';

const wordReach = (wordSpan - 1) / 2;
/** The score of a window without words. */
const emptyScore = -30;

/** Scores windows of words. Buffers are reused, so that it is not to be called while it runs. */
export class DetectorNetwork {
  readonly #weights: DetectorWeights;
  readonly #kernel: DetectorKernel;
  readonly #blockMaxima = new Float64Array(blockFeatures);
  readonly #inputs = new Float64Array(hiddenInputs);

  constructor(weights: DetectorWeights, kernel: DetectorKernel) {
    this.#weights = weights;
    this.#kernel = kernel;
  }

  /** Scores the first words of a list of word numbers. */
  score(numbers: Int32Array, count: number, channel: number): number {
    if (count === 0) return emptyScore;
    const { starts, sums, maxima, added } = this.#kernel;
    const noWord = addressOf(0);
    starts.fill(noWord, 0, wordReach);
    for (let i = 0; i < count; i++) starts[i + wordReach] = addressOf(numbers[i]!);
    starts.fill(noWord, count + wordReach, count + 2 * wordReach + blockWords);
    sums.fill(0);
    maxima.fill(0);
    const blocks = Math.ceil(count / blockWords);
    // There is an empty block before the first one, which is never written, and after the last one.
    for (let block = 0; block < blocks; block++) this.#kernel.addBlock(block, count);
    added.fill(0, (blocks + 1) * blockOutputs, (blocks + 2) * blockOutputs);
    this.#poolBlocks(blocks);
    return this.#scoreFeatures(count, channel);
  }

  /** The second convolution: the sum over neighbours, and its maximum over all blocks. */
  #poolBlocks(blocks: number): void {
    const { blockBias } = this.#weights;
    const { added } = this.#kernel;
    const maxima = this.#blockMaxima.fill(0);
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
    inputs.set(this.#kernel.maxima);
    for (let i = 0; i < wordFeatures; i++) inputs[wordFeatures + i] = this.#kernel.sums[i]! / count;
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
