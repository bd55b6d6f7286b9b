// Verifies an answer claim by claim: exact verifiers, evidence read by judges of other families, independent answers, then strike-out or abstention.
import { errorMessage } from '../../core/index.ts';
import { defaultQuorum, selectJudges } from '../judges/index.ts';
import type { CheckedClaim } from '../types.ts';
import { decideAnswers } from './answers-question.ts';
import { createReport, type ReportInput } from './create-report.ts';
import { createMeter, isBudgetError } from './meter.ts';
import { isRefusal } from '../abstention.ts';
import type { VerificationReport } from './report.ts';
import { maxAnswerLength, splitClaims } from './split-claims.ts';
import { refreshEvidence, reportProgress, runStages, type ClaimState, type VerifyAnswerOptions } from './stages.ts';

/** The maximum number of claims; an answer with more is not verified. */
export const maxClaims = 1000;
/** Verifies an answer. Nothing that fails, is missing or cannot be parsed counts as supported. Throws only if the signal is aborted. */
export async function verifyAnswer(options: VerifyAnswerOptions): Promise<VerificationReport> {
  const { answer, question, author, quorum = defaultQuorum, signal } = options;
  const meter = options.meter ?? createMeter(options.budget, signal);
  const judges = selectJudges(options.judges ?? [], author);
  const base: Omit<ReportInput, 'claims' | 'ending'> = { ...options, quorum, counted: judges, meter };
  const end = (states: readonly ClaimState[], ending: ReportInput['ending']): VerificationReport =>
    createReport({ ...base, claims: states.map(toCheckedClaim), ending });
  const refuse = (why: string): VerificationReport =>
    createReport({ ...base, claims: [], isExamined: false, ending: { type: 'not-verified', why } });
  signal?.throwIfAborted();
  if (answer.length > maxAnswerLength) return refuse(`The answer is longer than ${maxAnswerLength} characters.`);
  if (answer.trim() === '') return end([], { type: 'abstained', why: 'The answer is empty.' });
  if (isRefusal(answer)) return end([], { type: 'abstained', why: 'The model gave no answer.' });
  const claims = splitClaims(answer);
  reportProgress(options, 'split', `${claims.length} claim${claims.length === 1 ? '' : 's'}`, 0, claims.length);
  if (claims.length === 0) return end([], { type: 'abstained', why: 'The answer states nothing.' });
  if (claims.length > maxClaims)
    return refuse(`The answer has ${claims.length} claims; at most ${maxClaims} are verified.`);
  const states = claims.map((claim): ClaimState => ({
    claim,
    evidence: [],
    votes: [],
    why: 'No evidence was found.',
    reason: 'no-evidence',
  }));
  try {
    await runStages(states, options, judges, quorum, meter);
    await refreshEvidence(states, options, meter.signal);
    const kept = states.filter(({ verdict }) => verdict?.type === 'supported').map(({ claim }) => claim);
    const struck = states.filter(({ verdict }) => verdict?.type !== 'supported').map(({ claim }) => claim);
    reportProgress(options, 'answer', 'whether the rest answers the question', kept.length, claims.length);
    const answers = await decideAnswers(question, kept, struck, judges, quorum, meter);
    const ended = end(
      states,
      answers.answers ? { type: 'verified', why: answers.why } : findEnding(states, answers.why),
    );
    return ended.outcome === 'verified' ? await acceptReport(ended, options) : ended;
  } catch (error) {
    signal?.throwIfAborted();
    const why = meter.exceeded() ?? (meter.signal.aborted ? 'the time limit is reached.' : undefined);
    if (!isBudgetError(error) && why === undefined) throw error;
    const ending = why === undefined ? errorMessage(error) : `The budget does not reach for the verification: ${why}`;
    for (const state of states)
      if (!state.verdict) Object.assign(state, { why: 'The budget did not reach.', reason: 'budget' });
    return end(states, { type: 'abstained', why: ending });
  } finally {
    reportProgress(options, 'done', 'done', claims.length, claims.length);
  }
}

async function acceptReport(ended: VerificationReport, { accept }: VerifyAnswerOptions): Promise<VerificationReport> {
  const refused = await accept?.(ended);
  return refused === undefined ? ended : { ...ended, outcome: 'abstained', why: refused, verifiedText: '' };
}

/** Without a quorum the result is "not verified"; with one, what is missing is evidence. */
function findEnding(states: readonly ClaimState[], why: string): ReportInput['ending'] {
  const open = states.filter(({ verdict }) => verdict === undefined);
  const withoutQuorum = open.filter(({ reason }) => reason === 'no-quorum');
  return withoutQuorum.length > 0
    ? { type: 'not-verified', why: `${why} ${withoutQuorum[0]?.why ?? ''}`.trim() }
    : { type: 'abstained', why };
}

const toCheckedClaim = ({ claim, verdict, votes, score, why, reason, refused, nearest }: ClaimState): CheckedClaim => ({
  ...claim,
  verdict: verdict ?? {
    type: 'unverifiable',
    why,
    ...(reason === 'no-quorum' && !refused && nearest ? { evidence: [nearest] } : {}),
  },
  ...(votes.length === 0 ? {} : { votes: votes.map(({ judge, vote, why: reason }) => ({ judge, vote, why: reason })) }),
  ...(score === undefined ? {} : { score }),
});
