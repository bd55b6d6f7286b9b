// The report of a verification: outcome, claims with verdicts, citations, judges and cost.
import type { CheckedClaim, Evidence } from '../types.ts';

/** The outcome of a verification. `not-verified`: it could not be decided, for example because too few judges voted. */
export type VerifyOutcome = 'verified' | 'abstained' | 'not-verified';

/** A numbered source of supported and contradicted claims. */
export type Citation = {
  readonly number: number;
  readonly evidence: Evidence;
  /** The ids of the claims that it decides. */
  readonly claims: readonly string[];
};

/** What a verification used. */
export type VerifySpent = {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
  /** Requests whose cost is unknown. */
  readonly requestsWithoutPrice: number;
  readonly ms: number;
};

/** A judge of a verification, and whether its votes counted. */
export type ReportedJudge = {
  readonly name: string;
  readonly family: string;
  readonly counted: boolean;
  readonly why?: string;
};

/** The report of a verification. */
export type VerificationReport = {
  readonly outcome: VerifyOutcome;
  /** Why this is the outcome; for an abstention, what was missing. */
  readonly why: string;
  readonly question?: string;
  readonly author?: string;
  /** The answer as its author wrote it. */
  readonly draft: string;
  /** The answer in Markdown, with the numbers of citations, and with every claim that is not supported struck out. */
  readonly answer: string;
  /** The supported claims alone; empty unless the outcome is `verified`. */
  readonly verifiedText: string;
  readonly claims: readonly CheckedClaim[];
  readonly citations: readonly Citation[];
  readonly judges: readonly ReportedJudge[];
  readonly quorum: number;
  readonly spent: VerifySpent;
};

/** A step of a verification, for a display of progress. */
export type VerifyProgress = {
  readonly stage: 'draft' | 'split' | 'exact' | 'evidence' | 'judges' | 'independent' | 'chain' | 'answer' | 'done';
  readonly text: string;
  readonly done: number;
  readonly total: number;
};

/** The number of claims with each verdict. */
export const countVerdicts = (
  claims: readonly CheckedClaim[],
): { readonly supported: number; readonly contradicted: number; readonly unverifiable: number } => ({
  supported: claims.filter(({ verdict }) => verdict.type === 'supported').length,
  contradicted: claims.filter(({ verdict }) => verdict.type === 'contradicted').length,
  unverifiable: claims.filter(({ verdict }) => verdict.type === 'unverifiable').length,
});
