// Decides from the votes of judges: a quorum of independent families must agree, and one opposite vote prevents the verdict.
import type { JudgeVote } from '../types.ts';
import { unknownFamily } from './model-family.ts';

/** The default number of model families that must agree. */
export const defaultQuorum = 2;

/** The result of a vote. */
export type QuorumResult =
  | { readonly type: 'supported' | 'contradicted'; readonly why: string }
  | { readonly type: 'undecided'; readonly reason: 'no-quorum' | 'disagreement' | 'cannot-tell'; readonly why: string };

/** Counts votes by family: two judges of one family are one vote. Without a quorum the result is undecided, never a verdict. */
export function decideByQuorum(
  votes: readonly (JudgeVote & { readonly family: string })[],
  quorum: number = defaultQuorum,
): QuorumResult {
  const needed = Number.isInteger(quorum) && quorum > 0 ? quorum : defaultQuorum;
  const familiesOf = (vote: JudgeVote['vote']): ReadonlySet<string> =>
    new Set(votes.filter((each) => each.vote === vote).map(({ family }) => family));
  const supporting = familiesOf('supported');
  const contradicting = familiesOf('contradicted');
  const counts = formatVotes(votes);
  if (supporting.size > 0 && contradicting.size > 0)
    return { type: 'undecided', reason: 'disagreement', why: `The judges disagree: ${counts}.` };
  if (supporting.size >= needed) return { type: 'supported', why: counts };
  if (contradicting.size >= needed) return { type: 'contradicted', why: counts };
  const valid = new Set(votes.filter(({ vote }) => vote !== 'none').map(({ family }) => family));
  if (valid.size < needed)
    return {
      type: 'undecided',
      reason: 'no-quorum',
      why: `No quorum: ${needed} model ${needed === 1 ? 'family' : 'families'} must vote, ${valid.size} did${counts === '' ? '' : ` (${counts})`}.`,
    };
  if (contradicting.size > 0)
    return { type: 'undecided', reason: 'disagreement', why: `A judge contradicts the claim: ${counts}.` };
  return { type: 'undecided', reason: 'cannot-tell', why: `The judges found no support: ${counts}.` };
}

const words: Readonly<Record<JudgeVote['vote'], string>> = {
  supported: 'support it',
  contradicted: 'contradict it',
  'cannot-tell': 'cannot tell',
  none: 'gave no valid vote',
};

/** Formats the votes as counts, such as `2 of 3 judges support it, 1 cannot tell`. */
export function formatVotes(votes: readonly JudgeVote[]): string {
  const parts = (['supported', 'contradicted', 'cannot-tell', 'none'] as const).flatMap((vote) => {
    const count = votes.filter((each) => each.vote === vote).length;
    return count === 0 ? [] : [{ count, text: words[vote] }];
  });
  return parts
    .map(({ count, text }, i) => (i === 0 ? `${count} of ${votes.length} judges ${text}` : `${count} ${text}`))
    .join(', ');
}

/** Returns the judges that may vote about the answer of an author: not the author, not a model of its family, and not one whose family is unknown. */
export const selectJudges = <T extends { readonly name: string; readonly family: string }>(
  judges: readonly T[],
  author: { readonly name: string; readonly family: string } | undefined,
): readonly T[] => {
  const seen = new Set<string>();
  return judges.filter(({ name, family }) => {
    if (seen.has(name) || family === unknownFamily || (author && (name === author.name || family === author.family)))
      return false;
    seen.add(name);
    return true;
  });
};
