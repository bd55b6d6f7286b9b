// Agreement between models: how far answers of other models to the same question contain the words of a claim.
import { sampleWords, type SampleWords } from './sample-words.ts';

/** A signal for a claim from answers of other models. It can order and refuse claims; it does not make one supported. */
export type ClaimAgreement = {
  /** From 0 to 1: the share of the claim's words that the answer at the quorum contains; 0 with fewer answers than the quorum. */
  readonly confidence: number;
  /** The share of the claim's words in each answer, in the order of the answers; 0 for a refusal. */
  readonly shares: readonly number[];
};

/** The answers that must contain a claim, if no quorum is given. One answer alone cannot raise the agreement. */
export const defaultAgreementQuorum = 2;

/** Measures how far answers of other models contain the words of a claim. */
export function measureAgreement(
  claim: string,
  answers: readonly string[],
  options: { readonly quorum?: number } = {},
): ClaimAgreement {
  const { words } = sampleWords(claim);
  const shares = answers.map((answer) => shareOf(words, sampleWords(answer)));
  const quorum = Math.max(1, options.quorum ?? defaultAgreementQuorum);
  return { confidence: shares.toSorted((a, b) => b - a)[quorum - 1] ?? 0, shares };
}

function shareOf(words: ReadonlySet<string>, answer: SampleWords): number {
  if (words.size === 0 || answer.isRefusal) return 0;
  let found = 0;
  for (const word of words) if (answer.words.has(word)) found += 1;
  return found / words.size;
}
