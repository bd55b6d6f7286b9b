// Reads the weights of the injection detector: a table of word vectors as bytes, followed by the layers as 16-bit floats.
import { readFileSync } from 'node:fs';
import { errorMessage, FairleadError } from '../../core/index.ts';
import { vectorScales } from './vector-scales.ts';

/** Rows of the table of word vectors; a power of two, because words are hashed to rows. */
export const tableRows = 32_768;
/** Numbers of a word vector. */
export const vectorSize = 40;
/** Words that the first convolution reads at once. */
export const wordSpan = 7;
/** Outputs of the first convolution. */
export const wordFeatures = 64;
/** Blocks of words that the second convolution reads at once. */
export const blockSpan = 3;
/** Outputs of the second convolution. */
export const blockFeatures = 24;
/** The inputs of the hidden layer: maximum and mean of the first features, the maximum of the second ones, and one of two channels. */
export const hiddenInputs: number = 2 * wordFeatures + blockFeatures + 2;
/** Outputs of the hidden layer. */
export const hiddenSize = 48;

/** The layers in the order of the file, with their number of weights. */
const layerSizes = {
  wordWeights: wordFeatures * vectorSize * wordSpan,
  wordBias: wordFeatures,
  blockWeights: blockFeatures * wordFeatures * blockSpan,
  blockBias: blockFeatures,
  hiddenWeights: hiddenSize * hiddenInputs,
  hiddenBias: hiddenSize,
  outputWeights: hiddenSize,
  outputBias: 1,
} as const;

const tableBytes = tableRows * vectorSize;
const layerBytes = 2 * Object.values(layerSizes).reduce((sum, size) => sum + size, 0);
/** The file is padded to a multiple of four bytes. */
const fileBytes = tableBytes + Math.ceil(layerBytes / 4) * 4;

/** The weights, arranged for inference. */
export type DetectorWeights = {
  /** The word vectors, before they are scaled; the scales are part of the first convolution. */
  readonly table: Int8Array;
  /** By number of the vector, then position of the word, then output. */
  readonly wordWeights: Float64Array;
  readonly wordBias: Float64Array;
  /** By input, then position of the block, then output. */
  readonly blockWeights: Float64Array;
  readonly blockBias: Float64Array;
  readonly hiddenWeights: Float64Array;
  readonly hiddenBias: Float64Array;
  readonly outputWeights: Float64Array;
  readonly outputBias: number;
};

/** Reads the weights that are part of the package: beside this file, or in the folder of the bundle. */
export function loadWeights(): DetectorWeights {
  const errors: string[] = [];
  for (const place of ['./weights.bin', './detector-weights.bin', '../detector-weights.bin']) {
    try {
      return parseWeights(readFileSync(new URL(place, import.meta.url)));
    } catch (error) {
      if (error instanceof FairleadError) throw error;
      errors.push(errorMessage(error));
    }
  }
  throw new FairleadError('guards/detector-weights', `The weights of the detector cannot be read: ${errors[0]}`, {
    blame: 'user',
    hint: 'Install the package again; its folder dist has the file detector-weights.bin.',
  });
}

/** Parses the content of the file. */
export function parseWeights(bytes: Uint8Array): DetectorWeights {
  if (bytes.length !== fileBytes)
    throw new FairleadError(
      'guards/detector-weights',
      `The weights of the detector have ${bytes.length} bytes instead of ${fileBytes}.`,
      { blame: 'user', hint: 'Install the package again.' },
    );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let offset = tableBytes;
  const next = (name: keyof typeof layerSizes): Float64Array => {
    const numbers = new Float64Array(layerSizes[name]);
    for (let i = 0; i < numbers.length; i++, offset += 2) numbers[i] = parseFloat16(view.getUint16(offset, true));
    return numbers;
  };
  return {
    table: new Int8Array(bytes.buffer, bytes.byteOffset, tableBytes),
    wordWeights: arrangeWordWeights(next('wordWeights')),
    wordBias: next('wordBias'),
    blockWeights: arrangeBlockWeights(next('blockWeights')),
    blockBias: next('blockBias'),
    hiddenWeights: next('hiddenWeights'),
    hiddenBias: next('hiddenBias'),
    outputWeights: next('outputWeights'),
    outputBias: next('outputBias')[0] ?? Number.NaN,
  };
}

/** From output, number of the vector, position to number of the vector, position, output; the scale of each number is included. */
function arrangeWordWeights(stored: Float64Array): Float64Array {
  const arranged = new Float64Array(stored.length);
  for (let output = 0; output < wordFeatures; output++)
    for (let input = 0; input < vectorSize; input++)
      for (let position = 0; position < wordSpan; position++)
        arranged[(input * wordSpan + position) * wordFeatures + output] =
          (stored[(output * vectorSize + input) * wordSpan + position] ?? 0) * (vectorScales[input] ?? 0);
  return arranged;
}

/** From output, input, position to input, position, output. */
function arrangeBlockWeights(stored: Float64Array): Float64Array {
  const arranged = new Float64Array(stored.length);
  for (let output = 0; output < blockFeatures; output++)
    for (let input = 0; input < wordFeatures; input++)
      for (let position = 0; position < blockSpan; position++)
        arranged[(input * blockSpan + position) * blockFeatures + output] =
          stored[(output * wordFeatures + input) * blockSpan + position] ?? 0;
  return arranged;
}

/** IEEE 754 binary16. Infinities do not occur. */
function parseFloat16(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  const magnitude = exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
}
