// Measures the uncertainty of an answer from repeated samples of the same question. The result can refuse an answer; it can never certify one.
import { FairleadError } from '../../core/index.ts';
import {
  clusterWords,
  entropyConfidence,
  maxSamples,
  minWordOverlap,
  semanticEntropy,
  type SampleCluster,
} from './clusters.ts';
import { questionWords, sampleWords, wordOverlap } from './sample-words.ts';

/** The name and version of this confidence; a calibration of another version does not count. */
export const uncertaintyVersion = 'samples-1';
/** The samples that a confidence needs. */
export const minSamples = 5;
/** The confidence below which samples refuse an answer, if no calibration gives another. */
export const defaultMinConfidence = 0.5;

/** An answer and samples of the same question. */
export type UncertaintyInput = {
  readonly question: string;
  readonly answer: string;
  /** Answers of the same model to the same question, drawn again; five or more. */
  readonly samples: readonly string[];
  /** Clusters of the samples that a judge made; without them samples are clustered by their words. */
  readonly clusters?: readonly SampleCluster[];
  /** The confidence below which the answer is refused. */
  readonly minConfidence?: number;
};

/** What samples say about an answer. There is no outcome that certifies: samples that agree can all be wrong. */
export type Uncertainty = {
  readonly outcome: 'refuse' | 'no-objection';
  /** One sentence. */
  readonly why: string;
  /** From 0 to 1, higher is better; absent with fewer than five samples. Not a probability before it is calibrated. */
  readonly confidence?: number;
  /** The semantic entropy of the samples in nats. */
  readonly entropy: number;
  /** The samples, clustered by what they say. */
  readonly clusters: readonly SampleCluster[];
  readonly samples: number;
  /** Samples that say what the answer says. */
  readonly agreeing: number;
  /** Samples that are empty, refuse or abstain. */
  readonly refusals: number;
};

/** Measures how far samples of the same question agree with an answer. */
export function measureUncertainty(input: UncertaintyInput): Uncertainty {
  const minConfidence = assertShare(input.minConfidence ?? defaultMinConfidence);
  const question = questionWords(input.question);
  const samples = input.samples.slice(0, maxSamples).map((sample) => sampleWords(sample, question));
  const answer = sampleWords(input.answer, question);
  const clusters =
    input.clusters === undefined ? clusterWords(samples) : assertClusters(input.clusters, samples.length);
  const overlaps = samples.map((sample) => wordOverlap(answer, sample));
  const agreeing = overlaps.filter((overlap) => overlap >= minWordOverlap).length;
  const refusals = samples.filter((sample) => sample.isRefusal).length;
  const facts = { entropy: semanticEntropy(clusters), clusters, samples: samples.length, agreeing, refusals };
  const refuse = (why: string, confidence?: number): Uncertainty => ({
    outcome: 'refuse',
    why,
    ...(confidence === undefined ? {} : { confidence }),
    ...facts,
  });
  if (samples.length < minSamples)
    return refuse(`There are ${samples.length} samples; a confidence needs ${minSamples} or more.`);
  if (answer.isRefusal) return refuse('The answer is empty, refuses or abstains.', 0);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / samples.length;
  const agreement = (entropyConfidence(clusters) + agreeing / samples.length + mean(overlaps)) / 3;
  const confidence = agreement * (1 - refusals / samples.length);
  const counts = `${agreeing} of ${samples.length} samples agree with the answer, in ${clusters.length} clusters`;
  if (confidence < minConfidence)
    return refuse(`${counts}: confidence ${confidence.toFixed(2)} is below ${minConfidence}.`, confidence);
  return {
    outcome: 'no-objection',
    why: `${counts}. Agreement is no evidence that the answer is true.`,
    confidence,
    ...facts,
  };
}

function assertShare(value: number): number {
  if (value >= 0 && value <= 1) return value;
  throw new FairleadError('checks/invalid-confidence', `The minimum confidence ${value} is not from 0 to 1.`, {
    blame: 'user',
  });
}

/** Each sample must be in exactly one cluster. */
function assertClusters(clusters: readonly SampleCluster[], total: number): readonly SampleCluster[] {
  const members = clusters.flatMap(({ samples }) => samples);
  const isPartition =
    members.length === total &&
    new Set(members).size === total &&
    members.every((each) => Number.isInteger(each) && each >= 0 && each < total);
  if (isPartition) return clusters;
  throw new FairleadError('checks/invalid-clusters', `The clusters do not contain each of the ${total} samples once.`, {
    blame: 'user',
  });
}
