// Types of the responses about verifications and calibrations.
import type { FleetRun } from '../../../src/core/index.ts';

/** Where evidence comes from. */
export type EvidenceSource =
  | {
      readonly type: 'document';
      readonly path: string;
      readonly lines: readonly [number, number];
      readonly hash: string;
    }
  | { readonly type: 'event'; readonly seq: number }
  | { readonly type: 'given'; readonly name: string }
  | { readonly type: 'model'; readonly name: string }
  | { readonly type: 'computed'; readonly by: string };

/** A text that decides a claim; `span` is the part that does. */
export type Evidence = {
  readonly source: EvidenceSource;
  readonly text: string;
  readonly span?: { readonly start: number; readonly end: number };
};

/** The verdict of a claim. */
export type ClaimVerdict = {
  readonly type: 'supported' | 'contradicted' | 'unverifiable';
  readonly why: string;
  readonly decidedBy?: string;
  readonly verifier?: string;
  readonly evidence?: readonly Evidence[];
};

/** A claim with its verdict and the votes of judges. */
export type CheckedClaim = {
  readonly id: string;
  readonly text: string;
  readonly verdict: ClaimVerdict;
  readonly votes?: readonly { readonly judge: string; readonly vote: string; readonly why: string }[];
  readonly score?: number;
};

/** The report of a verification. */
export type VerificationReport = {
  readonly outcome: 'verified' | 'abstained' | 'not-verified';
  readonly why: string;
  readonly question?: string;
  readonly author?: string;
  /** The answer in Markdown with numbered citations and struck claims. */
  readonly answer: string;
  readonly claims: readonly CheckedClaim[];
  readonly citations: readonly {
    readonly number: number;
    readonly evidence: Evidence;
    readonly claims: readonly string[];
  }[];
  readonly judges: readonly {
    readonly name: string;
    readonly family: string;
    readonly counted: boolean;
    readonly why?: string;
  }[];
  readonly quorum: number;
  readonly spent: {
    readonly requests: number;
    readonly input: number;
    readonly output: number;
    readonly usd: number;
    readonly requestsWithoutPrice: number;
    readonly ms: number;
  };
  readonly uncertainty?: { readonly outcome: string; readonly why: string; readonly confidence?: number };
};

/** The response of GET /api/verify/{id}. */
export type VerificationStatus = {
  readonly run: FleetRun;
  readonly progress?: { readonly stage: string; readonly text: string; readonly done: number; readonly total: number };
  readonly report?: VerificationReport;
};

/** A stored calibration with its risk-coverage curve. */
export type StoredCalibration = {
  readonly model: string;
  readonly task: string;
  readonly verifier: string;
  readonly when: string;
  readonly dataset: string;
  readonly labels: number;
  readonly errors: number;
  readonly maxErrorRate: number;
  readonly probability: number;
  readonly threshold?: number;
  readonly accepted?: {
    readonly count: number;
    readonly errors: number;
    readonly coverage: number;
    readonly upperBound: number;
  };
  readonly why: string;
  readonly curve: {
    readonly points: readonly {
      readonly threshold: number;
      readonly coverage: number;
      readonly errorRate: number;
      readonly interval: readonly [number, number];
    }[];
    readonly area?: number;
  };
};

/** The response of GET /api/calibrations. */
export type CalibrationList = {
  readonly calibrations: readonly StoredCalibration[];
  readonly problems: readonly string[];
};
