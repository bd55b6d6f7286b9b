// Model sizes a machine can run, by memory, for 4-bit weights.

/** The hardware of a machine; memory in gigabytes. */
export type Hardware = {
  readonly cores: number;
  readonly memory: number;
  /** GPU memory; the system memory if it is unified; absent without a GPU. */
  readonly gpuMemory?: number;
  readonly gpuName?: string;
};

/** A model size in billions of parameters and its requirements. */
export type ModelSize = {
  readonly billions: number;
  /** Gigabytes of its 4-bit weights plus server overhead. */
  readonly weights: number;
  readonly example: string;
  /** What it is good for. */
  readonly description: string;
};

/** Estimate: 0.6 GB per billion parameters plus 1 GB for buffers. */
const weightsSize = (billions: number): number => Math.round((0.6 * billions + 1) * 10) / 10;

const createModelSize = (billions: number, example: string, about: string): ModelSize => ({
  billions,
  weights: weightsSize(billions),
  example,
  description: about,
});

/** All sizes, the smallest first. */
export const modelSizes: readonly ModelSize[] = [
  createModelSize(1, 'qwen3:0.6b', 'short answers; no work with tools'),
  createModelSize(4, 'qwen3:4b', 'simple questions; calls tools, often wrongly'),
  createModelSize(8, 'qwen3:8b', 'small edits and questions about a few files'),
  createModelSize(14, 'qwen3:14b', 'edits of several files'),
  createModelSize(32, 'qwen3:32b', 'most everyday work in a repository'),
  createModelSize(70, 'llama3.3:70b', 'hard tasks, slowly'),
];

/** A model size that fits, and the context that fits with it. */
export type LocalModelCapacity = {
  readonly largestModel: ModelSize | undefined;
  /** Where the weights are loaded. */
  readonly device: 'graphics card' | 'processor';
  /** Context tokens that fit in GPU memory; absent without a GPU. */
  readonly window?: number;
  /** Reference tokens per second of this machine class. */
  readonly benchmark?: string;
};

/** Context by GPU memory: 128K from 24 GB, 32K from 16 GB, 8K from 8 GB. */
const contextByGpuMemory: readonly (readonly [gigabytes: number, tokens: number])[] = [
  [24, 131_072],
  [16, 32_768],
  [8, 8192],
];

/** GPUs report slightly less memory than their nominal size. */
const withTolerance = (gigabytes: number): number => gigabytes * 0.93;

/** Returns the largest model that fits, and its context. */
export function estimateLocalModelCapacity({ memory, gpuMemory }: Hardware): LocalModelCapacity {
  const largestFitting = (available: number): ModelSize | undefined =>
    modelSizes.findLast(({ weights }) => weights <= available);
  const card = gpuMemory === undefined ? undefined : largestFitting(gpuMemory * 0.9);
  if (gpuMemory !== undefined && card) {
    const window = contextByGpuMemory.find(([minMemory]) => gpuMemory >= withTolerance(minMemory))?.[1];
    return {
      largestModel: card,
      device: 'graphics card',
      ...(window === undefined ? {} : { window }),
      ...benchmarkFor(gpuMemory),
    };
  }
  // Reserve for the system and other programs.
  return { largestModel: largestFitting(memory * 0.6), device: 'processor' };
}

function benchmarkFor(graphics: number): Pick<LocalModelCapacity, 'benchmark'> {
  if (graphics >= withTolerance(24)) return { benchmark: 'a 27B model on an RTX 4090: about 40 tokens a second' };
  return graphics >= withTolerance(8) ? { benchmark: 'a 7B model on an M1: 15 to 20 tokens a second' } : {};
}

/** The min size for reliable tool use. */
export const minToolUseBillions = 27;
