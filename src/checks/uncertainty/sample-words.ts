// The words by which samples of one question are compared, in any script, and the overlap of two samples.
import { isRefusal } from '../abstention.ts';
import { contentWords, negatingWords } from '../words.ts';

/** The characters of a sample that are compared. */
const maxComparedLength = 20_000;

/** What a sample says beyond the words of the question. */
export type SampleWords = {
  /** True if the sample is empty, refuses, or only abstains. */
  readonly isRefusal: boolean;
  readonly words: ReadonlySet<string>;
  /** The words that are numbers. */
  readonly numbers: ReadonlySet<string>;
  /** True if the sample negates something. */
  readonly negates: boolean;
};

const negation = new RegExp(`\\b(?:${negatingWords.join('|')}|nobody|nothing)\\b|n['\\u2019]t\\b`, 'i');
/** Scripts that are written without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Returns the words of a question, which are no information in an answer. */
export const questionWords = (question: string): ReadonlySet<string> => new Set(allWords(question));

/** Returns what a sample says. A sample that has only words of the question keeps them, such as the answer to "A or B?". */
export function sampleWords(sample: string, question: ReadonlySet<string> = new Set()): SampleWords {
  const text = sample.slice(0, maxComparedLength);
  const all = allWords(text);
  const said = all.filter((word) => !question.has(word));
  const words = new Set(said.length > 0 ? said : all);
  const numbers = new Set([...words].filter((word) => /^\p{N}/u.test(word)));
  return { isRefusal: isRefusal(text), words, numbers, negates: negation.test(text) };
}

/** Returns the overlap of two samples from 0 to 1: shared words of all words. Samples with no number in common, or of which one negates, have none. */
export function wordOverlap(first: SampleWords, second: SampleWords): number {
  if (first.isRefusal || second.isRefusal || first.negates !== second.negates) return 0;
  // Without a word there is only the negation: "No." and "No, it is not."
  if (first.words.size === 0 && second.words.size === 0) return first.negates ? 1 : 0;
  if (first.numbers.size > 0 && second.numbers.size > 0 && countShared(first.numbers, second.numbers) === 0) return 0;
  const shared = countShared(first.words, second.words);
  return shared / (first.words.size + second.words.size - shared);
}

function countShared(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of first) if (second.has(word)) shared += 1;
  return shared;
}

/** The content words of the Latin script; of other scripts each word, or each pair of characters where words are not separated. */
function allWords(text: string): readonly string[] {
  // Accents are removed, so that "São" and "Sao" are one word.
  const plain = text.normalize('NFKD').replaceAll(/\p{Mn}/gu, '');
  const words = contentWords(plain);
  for (const [run] of plain.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/^[a-z0-9]+$/.test(run)) continue;
    if (!unspaced.test(run)) words.push(run);
    else for (const pair of characterPairs(run)) words.push(pair);
  }
  return words;
}

/** The pairs of neighbouring UTF-16 units; the run itself if it has one. */
function characterPairs(run: string): readonly string[] {
  if (run.length === 1) return [run];
  return Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));
}
