// Types of the measurements of the scorecard.
import type { RateCount } from '../../fleet/health/index.ts';

/** What a measurement can use. */
export type ScorecardContext = {
  /** The command that starts the program, for measurements of the whole program; without it they are not made. */
  readonly program?: readonly string[];
  /** The model to measure; by default the configured one. */
  readonly model?: string;
  /** How many runs are killed; 10 by default. */
  readonly crashRuns?: number;
  readonly signal: AbortSignal;
};

/** The counts of a claim, and what was measured. */
export type ScorecardCount = RateCount & { readonly about: string };

/** Measures some claims: it counts failures, and throws only if it could not measure. */
export type ScorecardMeter = {
  readonly ids: readonly string[];
  readonly measure: (context: ScorecardContext) => Promise<Readonly<Record<string, ScorecardCount>>>;
};
