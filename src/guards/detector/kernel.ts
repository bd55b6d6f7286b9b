// The two convolutions of the injection detector as WebAssembly with vector instructions, which compute four numbers at a time.
import { FairleadError } from '../../core/index.ts';
import {
  add,
  addInt,
  buildModule,
  get,
  int,
  load,
  loadInt,
  loadSplat,
  max,
  multiply,
  repeatWhileBelow,
  set,
  splat,
  store,
  zeros,
  type Code,
} from './wasm-code.ts';
import { blockFeatures, blockSpan, vectorSize, wordFeatures, wordSpan, type DetectorWeights } from './weights.ts';

/** Words of a window at most: one for each of its characters. */
export const maxWindowWords = 1000;
/** Words with a projection at most: about 29 MB. */
export const maxWords = 16_384;
/** Words that the second convolution sees as one block: the maximum of their features. */
export const blockWords = 4;
/** Numbers that a block adds to the second convolution: one for each position of the block in the span, and output. */
export const blockOutputs: number = blockSpan * blockFeatures;
/** Numbers of the projection of a word: one for each position of the word in the span, and output. */
export const projectionSize: number = wordSpan * wordFeatures;

const numberBytes = 4;
const vectorBytes = 16;
const pageBytes = 65_536;
const featureBytes = wordFeatures * numberBytes;
const projectionBytes = projectionSize * numberBytes;
const outputBytes = blockOutputs * numberBytes;

/** Where the numbers are in memory. All addresses are multiples of 16. */
const wordWeightsAt = 0;
const wordBiasAt = wordWeightsAt + vectorSize * projectionBytes;
const blockWeightsAt = wordBiasAt + featureBytes;
const vectorAt = blockWeightsAt + wordFeatures * outputBytes;
const blockAt = vectorAt + vectorSize * numberBytes;
const sumsAt = blockAt + featureBytes;
const maximaAt = sumsAt + featureBytes;
const startsAt = maximaAt + featureBytes;
/** The words of a window, the words that the first convolution reads before and after them, and the rest of the last block. */
const maxStarts = roundUp(maxWindowWords + wordSpan - 1 + blockWords);
const addedAt = startsAt + maxStarts * numberBytes;
/** There is an empty block before the first and after the last one. */
const maxAdded = (Math.ceil(maxWindowWords / blockWords) + 2) * blockOutputs;
const projectionsAt = addedAt + maxAdded * numberBytes;

/** The next multiple of the numbers of a vector. */
function roundUp(count: number): number {
  return Math.ceil(count / 4) * 4;
}

/** The sum of some values, added in pairs. */
function addAll(values: readonly Code[]): Code {
  const [first = zeros] = values;
  if (values.length < 2) return first;
  const half = values.length >> 1;
  return add(addAll(values.slice(0, half)), addAll(values.slice(half)));
}

const increase = (local: number, by: number): Code => set(local, addInt(get(local), int(by)));

/** Sums of factors times rows of weights: `outputs` vectors at once, from the factors at a fixed address. */
function multiplyRows(
  [factor, row, value, firstSum]: readonly [factor: number, row: number, value: number, firstSum: number],
  outputs: number,
  { from, count, rowBytes }: { readonly from: number; readonly count: number; readonly rowBytes: number },
): Code {
  const sums = Array.from({ length: outputs }, (_, i) => firstSum + i);
  return [
    ...sums.flatMap((sum) => set(sum, zeros)),
    ...set(factor, int(from)),
    ...repeatWhileBelow(factor, from + count * numberBytes, [
      ...set(value, loadSplat(get(factor), 0)),
      ...sums.flatMap((sum, i) => set(sum, add(get(sum), multiply(get(value), load(get(row), i * vectorBytes))))),
      ...increase(row, rowBytes),
      ...increase(factor, numberBytes),
    ]),
  ];
}

/** project(target): the projection of the word vector. */
function buildProject(): Code {
  const [target, at, factor, row, value, firstSum] = [0, 1, 2, 3, 4, 5];
  const step = wordSpan * vectorBytes;
  return repeatWhileBelow(at, projectionBytes, [
    ...set(row, addInt(get(at), int(wordWeightsAt))),
    ...multiplyRows([factor, row, value, firstSum], wordSpan, {
      from: vectorAt,
      count: vectorSize,
      rowBytes: projectionBytes,
    }),
    ...Array.from({ length: wordSpan }, (_, i) =>
      store(addInt(get(target), get(at)), i * vectorBytes, get(firstSum + i)),
    ).flat(),
    ...increase(at, step),
  ]);
}

/** addBlock(starts, target, ...is): reads a block of words, whose `is` is 1 or 0, and writes what it adds to the second convolution. */
function buildAddBlock(): Code {
  const [starts, target, firstIs] = [0, 1, 2];
  const firstWord = firstIs + blockWords;
  const words = Array.from({ length: blockWords + wordSpan - 1 }, (_, i) => firstWord + i);
  const at = firstWord + words.length;
  const [factor, row] = [at + 1, at + 2];
  const firstOutput = row + 1;
  const outputs = Array.from({ length: blockWords }, (_, i) => firstOutput + i);
  const readWord = (word: number): Code =>
    multiply(
      splat(get(firstIs + word)),
      max(
        zeros,
        addAll([
          load(get(at), wordBiasAt),
          ...Array.from({ length: wordSpan }, (_, i) => load(get(firstWord + word + i), i * featureBytes)),
        ]),
      ),
    );
  const largest = outputs.map(get).reduce(max);
  const half = outputBytes / 2;
  return [
    ...words.flatMap((word, i) => set(word, loadInt(get(starts), i * numberBytes))),
    ...repeatWhileBelow(at, featureBytes, [
      ...outputs.flatMap((output, word) => set(output, readWord(word))),
      ...store(get(at), sumsAt, add(load(get(at), sumsAt), addAll(outputs.map(get)))),
      ...set(firstOutput, largest),
      ...store(get(at), blockAt, get(firstOutput)),
      ...store(get(at), maximaAt, max(load(get(at), maximaAt), get(firstOutput))),
      ...words.flatMap((word) => increase(word, vectorBytes)),
      ...increase(at, vectorBytes),
    ]),
    ...[0, half].flatMap((offset) => [
      ...set(row, int(blockWeightsAt + offset)),
      ...multiplyRows([factor, row, firstOutput, firstOutput + 1], half / vectorBytes, {
        from: blockAt,
        count: wordFeatures,
        rowBytes: outputBytes,
      }),
      ...Array.from({ length: half / vectorBytes }, (_, i) =>
        store(get(target), offset + i * vectorBytes, get(firstOutput + 1 + i)),
      ).flat(),
    ]),
  ];
}

const buildKernel = (): Uint8Array<ArrayBuffer> =>
  buildModule([
    { name: 'project', parameters: ['i32'], ints: 3, vectors: 1 + wordSpan, body: buildProject() },
    {
      name: 'addBlock',
      parameters: ['i32', 'i32', 'f32', 'f32', 'f32', 'f32'],
      ints: blockWords + wordSpan - 1 + 3,
      vectors: 1 + outputBytes / 2 / vectorBytes,
      body: buildAddBlock(),
    },
  ]);

let compiled: WebAssembly.Module | undefined;

function compileKernel(): WebAssembly.Module {
  try {
    return (compiled ??= new WebAssembly.Module(buildKernel()));
  } catch (cause) {
    throw new FairleadError(
      'guards/detector-kernel',
      'This JavaScript engine has no WebAssembly with vector instructions.',
      {
        blame: 'user',
        hint: 'Start Node without --jitless.',
        cause,
      },
    );
  }
}

/** The memory of the convolutions, and the convolutions. */
export type DetectorKernel = {
  /** The numbers of a word before it is projected. */
  readonly vector: Float32Array;
  /** The sums and the maxima of the positive features of all blocks since they were set to zero. */
  readonly sums: Float32Array;
  readonly maxima: Float32Array;
  /** The addresses of the projections of the words of a window. */
  readonly starts: Int32Array;
  /** What the blocks of a window add to the second convolution, by block, position and output. */
  readonly added: Float32Array;
  /** Projects `vector` as the word with a number. */
  readonly project: (number: number) => void;
  /** Reads the words of a block; those from `count` on do not count. */
  readonly addBlock: (block: number, count: number) => void;
};

/** The address of the projection of a word. Number 0 is no word: its projection stays zero. */
export const addressOf = (number: number): number => projectionsAt + number * projectionBytes;

/** Creates the memory, and copies the weights into it. The system gives memory for projections when they are written. */
export function createKernel({ wordWeights, wordBias, blockWeights }: DetectorWeights): DetectorKernel {
  const compiledKernel = compileKernel();
  const memory = new WebAssembly.Memory({ initial: Math.ceil(addressOf(maxWords) / pageBytes) });
  const { exports } = new WebAssembly.Instance(compiledKernel, { env: { memory } });
  const project = exports['project'] as (target: number) => void;
  const addBlock = exports['addBlock'] as (starts: number, target: number, ...is: readonly number[]) => void;
  const floatsAt = (address: number, length: number): Float32Array => new Float32Array(memory.buffer, address, length);
  floatsAt(wordWeightsAt, wordWeights.length).set(wordWeights);
  floatsAt(wordBiasAt, wordBias.length).set(wordBias);
  floatsAt(blockWeightsAt, blockWeights.length).set(blockWeights);
  return {
    vector: floatsAt(vectorAt, vectorSize),
    sums: floatsAt(sumsAt, wordFeatures),
    maxima: floatsAt(maximaAt, wordFeatures),
    starts: new Int32Array(memory.buffer, startsAt, maxStarts),
    added: floatsAt(addedAt, maxAdded),
    project: (number) => project(addressOf(number)),
    addBlock(block, count) {
      const rest = count - block * blockWords;
      addBlock(
        startsAt + block * blockWords * numberBytes,
        addedAt + (block + 1) * outputBytes,
        1,
        rest > 1 ? 1 : 0,
        rest > 2 ? 1 : 0,
        rest > 3 ? 1 : 0,
      );
    },
  };
}
