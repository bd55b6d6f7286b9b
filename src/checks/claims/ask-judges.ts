// Asks judges about claims in batches, and decides each claim by quorum.
import { errorMessage } from '../../core/index.ts';
import {
  createBatches,
  decideByQuorum,
  judgeBatch,
  noVote,
  type CheckedVote,
  type JudgeTask,
  type QuorumResult,
} from '../judges/index.ts';
import type { Claim, ClaimVerdict, Evidence, VerifyModel } from '../types.ts';
import { isBudgetError, type Meter } from './meter.ts';

/** How many requests run at the same time. */
const maxConcurrentRequests = 6;

/** Runs jobs with at most six at the same time; the results have the order of the jobs. */
export async function runLimited<T>(jobs: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let job = jobs[next]; job; job = jobs[next]) {
      const index = next;
      next += 1;
      results[index] = await job();
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentRequests, jobs.length) }, work));
  return results;
}

/** Asks each judge about its tasks, and returns the votes by the id of the claim. A request that fails is no vote. */
export async function collectVotes(
  tasksByJudge: readonly { readonly judge: VerifyModel; readonly tasks: readonly JudgeTask[] }[],
  meter: Meter,
  onRequest: (done: number, total: number) => void = () => {},
): Promise<ReadonlyMap<string, readonly CheckedVote[]>> {
  const requests = tasksByJudge.flatMap(({ judge, tasks }) => createBatches(tasks).map((batch) => ({ judge, batch })));
  let done = 0;
  const results = await runLimited(
    requests.map(({ judge, batch }) => async () => {
      const votes = await judgeSafely(judge, batch, meter);
      done += 1;
      onRequest(done, requests.length);
      return votes.map((vote, i) => ({ id: batch[i]?.claim.id ?? '', vote }));
    }),
  );
  const votes = new Map<string, CheckedVote[]>();
  for (const { id, vote } of results.flat()) votes.set(id, [...(votes.get(id) ?? []), vote]);
  return votes;
}

async function judgeSafely(
  judge: VerifyModel,
  batch: readonly JudgeTask[],
  meter: Meter,
): Promise<readonly CheckedVote[]> {
  try {
    return await judgeBatch(judge, batch, meter.signal, meter.ask(judge));
  } catch (error) {
    if (isBudgetError(error) || meter.signal.aborted) throw error;
    return batch.map(() => noVote(judge, `It could not be asked: ${errorMessage(error)}`));
  }
}

/** A verdict, or why there is none yet. */
export type JudgedClaim =
  | { readonly verdict: ClaimVerdict; readonly votes: readonly CheckedVote[] }
  | {
      readonly undecided: Extract<QuorumResult, { readonly type: 'undecided' }>;
      readonly votes: readonly CheckedVote[];
    };

/** Decides a claim by the votes about it. A verdict has the quotation of each judge that gave it as evidence. */
export function decideClaim(
  votes: readonly CheckedVote[],
  quorum: number,
  formatWhy: (why: string) => string = (why) => `${why}.`,
): JudgedClaim {
  const result = decideByQuorum(votes, quorum);
  if (result.type === 'undecided') return { undecided: result, votes };
  const agreeing = votes.filter(({ vote }) => vote === result.type);
  const [first, ...more] = agreeing.flatMap(({ evidence }) => evidence ?? []);
  if (!first)
    return { undecided: { type: 'undecided', reason: 'no-quorum', why: 'The judges named no evidence.' }, votes };
  return {
    votes,
    verdict: {
      type: result.type,
      decidedBy: 'model',
      verifier: agreeing.map(({ judge }) => judge).join(', '),
      evidence: [first, ...more.filter((each) => !isSameEvidence(each, first))],
      why: formatWhy(result.why),
    },
  };
}

const isSameEvidence = (a: Evidence, b: Evidence): boolean =>
  JSON.stringify([a.source, a.span]) === JSON.stringify([b.source, b.span]);

/** The statement before a claim, where the claim begins with a word that refers to it. */
export function findContext(claims: readonly Claim[], index: number): string | undefined {
  const claim = claims[index];
  const before = claims[index - 1];
  if (!claim || !before || before.kind === 'code') return undefined;
  return /^(?:it|its|this|that|these|those|he|she|they|his|her|their|er|sie|es|il|elle)\b/i.test(claim.text)
    ? before.text.slice(0, 500)
    : undefined;
}
