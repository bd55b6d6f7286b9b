// The measurements of the scorecard: built in, so that an installed package can fill every row.
export { runCrashChild } from './crash-meter.ts';
export { runScorecard, scorecardMeters, type MeasuredRow, type RunScorecardOptions } from './run-scorecard.ts';
export type { ScorecardContext, ScorecardCount, ScorecardMeter } from './types.ts';
