// Measures the uncertainty of an answer from repeated samples of the same question. The result can refuse an answer; it can never certify one.
import { FairleadError } from '../../core/index.ts';
import { isRefusal } from '../abstention.ts';
import type { AskModel } from '../types.ts';
import {
  clusterByEntailment,
  clusterWords,
  entropyConfidence,
  maxSamples,
  minWordOverlap,
  semanticEntropy,
  type SampleCluster,
} from './clusters.ts';
import { questionWords, sampleWords, wordOverlap } from './sample-words.ts';

/** The name and version of the confidence by words; a calibration of another version does not count. */
export const uncertaintyVersion = 'samples-1';
/** The name and version of the confidence by the entailment that a judge sees. */
export const judgedUncertaintyVersion = 'entailment-1';
/** The samples that a confidence needs. */
export const minSamples = 5;
/** The confidence below which samples refuse an answer, if no calibration gives another. */
export const defaultMinConfidence = 0.5;
/** Content words of a sample above which its words say little about whether it says the same as another one. */
const maxShortWords = 40;

/** An answer and samples of the same question. */
export type UncertaintyInput = {
  readonly question: string;
  readonly answer: string;
  /** Answers of the same model to the same question, drawn again; five or more. */
  readonly samples: readonly string[];
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
  /** How the confidence was measured; a calibration is for one version. */
  readonly version: string;
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

/** Measures by their words how far samples of the same question agree with an answer; for short answers. */
export function measureUncertainty(input: UncertaintyInput): Uncertainty {
  const question = questionWords(input.question);
  const samples = input.samples.slice(0, maxSamples).map((sample) => sampleWords(sample, question));
  const answer = sampleWords(input.answer, question);
  const overlaps = samples.map((sample) => wordOverlap(answer, sample));
  return concludeUncertainty(input, {
    version: uncertaintyVersion,
    clusters: clusterWords(samples),
    agreeing: overlaps.filter((overlap) => overlap >= minWordOverlap).length,
    // The mean of shares, which differs between answers that agree in part.
    likeness: overlaps.reduce((sum, overlap) => sum + overlap, 0) / Math.max(1, overlaps.length),
  });
}

/** Measures by a judge model how far samples agree with an answer: they do if each implies the other. */
export async function measureUncertaintyByJudge(
  input: UncertaintyInput & { readonly judge: AskModel; readonly signal?: AbortSignal },
): Promise<Uncertainty> {
  const { question, signal } = input;
  const texts = [input.answer, ...input.samples.slice(0, maxSamples - 1)];
  const { clusters } = await clusterByEntailment(texts, input.judge, { question, ...(signal ? { signal } : {}) });
  const own = clusters.find(({ samples }) => samples.includes(0));
  const agreeing = own?.kind === 'answer' ? own.samples.length - 1 : 0;
  const withoutAnswer = clusters
    .map(({ kind, samples }) => ({ kind, samples: samples.filter((each) => each > 0).map((each) => each - 1) }))
    .filter(({ samples }) => samples.length > 0);
  return concludeUncertainty(input, {
    version: judgedUncertaintyVersion,
    clusters: withoutAnswer,
    agreeing,
    likeness: agreeing / Math.max(1, texts.length - 1),
  });
}

/** Returns whether answers are so long that their words say little about whether they say the same. */
export const areLongAnswers = (texts: readonly string[]): boolean =>
  texts.some((text) => sampleWords(text).words.size > maxShortWords);

type Agreement = Pick<Uncertainty, 'version' | 'clusters' | 'agreeing'> & {
  /** The mean likeness of a sample and the answer. */
  readonly likeness: number;
};

function concludeUncertainty(
  input: UncertaintyInput,
  { version, clusters, agreeing, likeness }: Agreement,
): Uncertainty {
  const minConfidence = assertShare(input.minConfidence ?? defaultMinConfidence);
  const count = clusters.reduce((sum, { samples }) => sum + samples.length, 0);
  const refusals = clusters.reduce((sum, { kind, samples }) => sum + (kind === 'refusal' ? samples.length : 0), 0);
  const facts = { version, entropy: semanticEntropy(clusters), clusters, samples: count, agreeing, refusals };
  const refuse = (why: string, confidence?: number): Uncertainty => ({
    outcome: 'refuse',
    why,
    ...(confidence === undefined ? {} : { confidence }),
    ...facts,
  });
  if (count < minSamples) return refuse(`There are ${count} samples; a confidence needs ${minSamples} or more.`);
  if (isRefusal(input.answer)) return refuse('The answer is empty, refuses or abstains.', 0);
  const agreement = (entropyConfidence(clusters) + agreeing / count + likeness) / 3;
  const confidence = agreement * (1 - refusals / count);
  const counts = `${agreeing} of ${count} samples agree with the answer, in ${clusters.length} clusters`;
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
