// Scores how well evidence supports a claim, by nine features of words, numbers and names. The score orders and flags claims; it never makes one supported.
import { contentWords, splitSentences } from '../words.ts';
import { intercept, scorerFeatures } from './coefficients.ts';

/** The score of a claim: log odds, the probability that belongs to them, and the features in the order of `scorerFeatures`. */
export type SupportScore = {
  readonly score: number;
  readonly probability: number;
  readonly features: readonly number[];
};

/** Evidence whose words are indexed, for many claims. */
type IndexedEvidence = {
  readonly text: string;
  readonly lower: string;
  readonly words: readonly string[];
  /** The number of sentences. */
  readonly sentences: number;
  /** The positions of each word in `words`. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
  /** The sentence of each word. */
  readonly sentenceOf: Int32Array;
};

function indexEvidence(evidence: string | readonly string[]): IndexedEvidence {
  const sentences = typeof evidence === 'string' ? splitSentences(evidence) : evidence;
  const words: string[] = [];
  const starts: number[] = [];
  for (const sentence of sentences) {
    starts.push(words.length);
    for (const word of contentWords(sentence)) words.push(word);
  }
  const sentenceOf = new Int32Array(words.length);
  for (const [index, start] of starts.entries()) sentenceOf.fill(index, start, starts[index + 1] ?? words.length);
  const positions = new Map<string, number[]>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const list = positions.get(word);
    if (list) list.push(at);
    else positions.set(word, [at]);
  }
  const text = sentences.join(' ');
  return { text, lower: text.toLowerCase(), words, sentences: sentences.length, positions, sentenceOf };
}

/** Creates a scorer for many claims about the same evidence: a passage, or a list of sentences. */
export function createSupportScorer(evidence: string | readonly string[]): (claim: string) => SupportScore {
  const indexed = indexEvidence(evidence);
  return (claim) => {
    const features = measureFeatures(claim, indexed);
    let score = intercept;
    for (const [index, { mean, deviation, coefficient }] of scorerFeatures.entries())
      score += (coefficient * ((features[index] ?? 0) - mean)) / deviation;
    return { score, probability: 1 / (1 + Math.exp(-score)), features };
  };
}

/** Scores one claim. A signal alone: on questions and answers about the world it is not better than chance. */
export const scoreSupport = (claim: string, evidence: string | readonly string[]): SupportScore =>
  createSupportScorer(evidence)(claim);

function measureFeatures(claim: string, evidence: IndexedEvidence): readonly number[] {
  const words = contentWords(claim);
  const distinct = [...new Set(words)];
  const count = Math.max(1, distinct.length);
  const hits = distinct.map((word) => sentencesWith(word, evidence));
  const numbers = new Set(claim.match(/[0-9][0-9,.]*[0-9]|[0-9]/g) ?? []);
  const names = new Set<string>();
  for (const match of claim.matchAll(/\b[A-Z][a-z]+/g)) if (match.index > 0) names.add(match[0].toLowerCase());
  return [
    hits.filter((sentences) => sentences.length > 0).length / count,
    bestWindow(hits, evidence.sentences, 1, 1) / count,
    bestWindow(hits, evidence.sentences, 3, 1) / count,
    bestWindow(hits, evidence.sentences, 8, 2) / count,
    countOf(numbers, (each) => !evidence.text.includes(each)) / Math.max(1, numbers.size),
    countOf(names, (each) => !evidence.lower.includes(each)) / Math.max(1, names.size),
    sharePairs(words, evidence),
    Math.log(1 + words.length),
    Math.log(1 + evidence.words.length),
  ];
}

/** The sentences with a word, ascending. */
function sentencesWith(word: string, { positions, sentenceOf }: IndexedEvidence): readonly number[] {
  const found: number[] = [];
  for (const at of positions.get(word) ?? []) {
    const sentence = sentenceOf[at] ?? 0;
    if (found.at(-1) !== sentence) found.push(sentence);
  }
  return found;
}

/** The most words that occur together in `size` consecutive sentences; windows start at every `step`-th sentence. */
function bestWindow(hits: readonly (readonly number[])[], sentences: number, size: number, step: number): number {
  const windows = Math.ceil(sentences / step);
  // Each word adds one to each window that has it: the first and the last window of each run of hits are marked.
  const changes = new Int32Array(windows + 1);
  for (const list of hits) {
    let covered = 0;
    for (const sentence of list) {
      const first = Math.max(covered, Math.ceil(Math.max(0, sentence - size + 1) / step));
      const end = Math.floor(sentence / step) + 1;
      if (first >= end) continue;
      changes[first] = (changes[first] ?? 0) + 1;
      changes[end] = (changes[end] ?? 0) - 1;
      covered = end;
    }
  }
  let best = 0;
  let current = 0;
  for (let window = 0; window < windows; window++) {
    current += changes[window] ?? 0;
    if (current > best) best = current;
  }
  return best;
}

/** The share of pairs of consecutive words of a claim that are consecutive in the evidence. */
function sharePairs(claimWords: readonly string[], { words, positions }: IndexedEvidence): number {
  const known = new Map<string, boolean>();
  let shared = 0;
  for (let at = 1; at < claimWords.length; at++) {
    const [first, second] = [claimWords[at - 1] as string, claimWords[at] as string];
    const key = `${first} ${second}`;
    let isShared = known.get(key);
    if (isShared === undefined) {
      isShared = hasPair(first, second, words, positions);
      known.set(key, isShared);
    }
    if (isShared) shared += 1;
  }
  return shared / Math.max(1, claimWords.length - 1);
}

function hasPair(
  first: string,
  second: string,
  words: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
): boolean {
  const [before, after] = [positions.get(first), positions.get(second)];
  if (!before || !after) return false;
  return before.length <= after.length
    ? before.some((at) => words[at + 1] === second)
    : after.some((at) => at > 0 && words[at - 1] === first);
}

function countOf<T>(items: Iterable<T>, holds: (item: T) => boolean): number {
  let count = 0;
  for (const item of items) if (holds(item)) count += 1;
  return count;
}
