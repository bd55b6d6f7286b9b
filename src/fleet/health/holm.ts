// Looking at several differences at once without being fooled by chance: Holm's step-down, on intervals instead of on bare p-values.
import { zScoreForConfidence, normalCdf } from './normal.ts';
import type { Interval } from './rates.ts';

/** A difference that may matter: its interval at any deviate (a wider one at a greater), and what is too small to matter. */
export type HolmTest = { readonly interval: (deviate: number) => Interval; readonly margin: number };

/** What came of a question: whether the difference is beyond its margin, and the interval at the confidence it was judged with. */
export type HolmResult = { readonly differs: boolean; readonly interval: Interval; readonly confidence: number };

/** Answers all questions so that, where nothing differs, the chance to say of any that it does is at most `alpha`. */
export function holm(questions: readonly HolmTest[], alpha = 0.05): readonly HolmResult[] {
  const order = questions
    .map((question, index) => ({ question, index, chance: computePValue(question) }))
    .toSorted((a, b) => a.chance - b.chance);
  const answers: HolmResult[] = [];
  let still = true;
  for (const [rank, { question, index, chance }] of order.entries()) {
    const confidence = 1 - alpha / (questions.length - rank);
    still &&= chance < 1 - confidence;
    answers[index] = { differs: still, interval: question.interval(zScoreForConfidence(confidence)), confidence };
  }
  return answers;
}

/** The least level at which the interval lies wholly beyond the margin: what a test would call its p-value. */
function computePValue({ interval, margin }: HolmTest): number {
  const beyond = (deviate: number): boolean => {
    const [low, high] = interval(deviate);
    return low > margin || high < -margin;
  };
  if (!beyond(0)) return 1;
  let [holds, fails] = [0, 8.3];
  if (beyond(fails)) return 0;
  for (let i = 0; i < 50; i++) {
    const middle = (holds + fails) / 2;
    if (beyond(middle)) holds = middle;
    else fails = middle;
  }
  return 2 * (1 - normalCdf(holds));
}
