// Which models a machine can run: a table by memory, with what it is reckoned from. Figures are for weights of four bits.

/** What a machine has, as far as it could be read; memory in gigabytes. */
export type Hardware = {
  readonly cores: number;
  readonly memory: number;
  /** Graphics memory; the memory itself where both are one, nothing where there is no such card. */
  readonly gpuMemory?: number;
  readonly gpuName?: string;
};

/** A size of models, by billions of parameters, and what it takes. */
export type ModelSize = {
  readonly billions: number;
  /** Gigabytes of its weights at four bits, with what a server needs besides. */
  readonly weights: number;
  readonly example: string;
  /** What to expect of it. */
  readonly description: string;
};

/** Four bits are half a byte a parameter; formats in use have some more, and a server its buffers: 0.6 GB a billion and one more. */
const weightsSize = (billions: number): number => Math.round((0.6 * billions + 1) * 10) / 10;

const createModelSize = (billions: number, example: string, about: string): ModelSize => ({
  billions,
  weights: weightsSize(billions),
  example,
  description: about,
});

/** The sizes there are, the smallest first. */
export const modelSizes: readonly ModelSize[] = [
  createModelSize(1, 'qwen3:0.6b', 'short answers; no work with tools'),
  createModelSize(4, 'qwen3:4b', 'simple questions; calls tools, often wrongly'),
  createModelSize(8, 'qwen3:8b', 'small edits and questions about a few files'),
  createModelSize(14, 'qwen3:14b', 'edits of several files'),
  createModelSize(32, 'qwen3:32b', 'most everyday work in a repository'),
  createModelSize(70, 'llama3.3:70b', 'hard tasks, slowly'),
];

/** What can be run, and how much of a conversation fits beside it. */
export type LocalModelCapacity = {
  readonly largestModel: ModelSize | undefined;
  /** Where its weights lie. */
  readonly device: 'graphics card' | 'processor';
  /** Tokens of context that fit in graphics memory of that size; nothing without such a card. */
  readonly window?: number;
  /** Tokens a second that were measured on a machine of this class, to compare with. */
  readonly benchmark?: string;
};

/** How much context fits by graphics memory: 128K from 24 GB on, 32K from 16, 8K from 8. */
const contextByGpuMemory: readonly (readonly [gigabytes: number, tokens: number])[] = [
  [24, 131_072],
  [16, 32_768],
  [8, 8192],
];

/** A card's memory is told a little short of its name: 24 GB are 23.99 or 22.5 of them. */
const withTolerance = (gigabytes: number): number => gigabytes * 0.93;

/** The largest model that a machine runs, and its context. */
export function estimateLocalModelCapacity({ memory, gpuMemory }: Hardware): LocalModelCapacity {
  const fits = (room: number): ModelSize | undefined => modelSizes.findLast(({ weights }) => weights <= room);
  const card = gpuMemory === undefined ? undefined : fits(gpuMemory * 0.9);
  if (gpuMemory !== undefined && card) {
    const window = contextByGpuMemory.find(([least]) => gpuMemory >= withTolerance(least))?.[1];
    return {
      largestModel: card,
      device: 'graphics card',
      ...(window === undefined ? {} : { window }),
      ...benchmarkFor(gpuMemory),
    };
  }
  // The system and everything else that is open need theirs.
  return { largestModel: fits(memory * 0.6), device: 'processor' };
}

function benchmarkFor(graphics: number): Pick<LocalModelCapacity, 'benchmark'> {
  if (graphics >= withTolerance(24)) return { benchmark: 'a 27B model on an RTX 4090: about 40 tokens a second' };
  return graphics >= withTolerance(8) ? { benchmark: 'a 7B model on an M1: 15 to 20 tokens a second' } : {};
}

/** From this size on a model is up to work with tools; a smaller one is better kept to simple tasks. */
export const minToolUseBillions = 27;
