// Measures the claims of the scorecard and saves the counts; a claim that could not be measured has a reason.
import { errorMessage } from '../../core/index.ts';
import {
  createScorecard,
  readMeasurements,
  saveMeasurement,
  scorecardClaims,
  type ScoreRow,
} from '../../fleet/health/index.ts';
import { crashMeter } from './crash-meter.ts';
import { attackMeter, prefixMeter, secretMeter, verificationMeter } from './local-meters.ts';
import { promiseMeter, trapSetMeter } from './program-meters.ts';
import type { ScorecardContext, ScorecardCount, ScorecardMeter } from './types.ts';

/** The built-in measurements; together they measure every claim. */
export const scorecardMeters: readonly ScorecardMeter[] = [
  attackMeter,
  secretMeter,
  crashMeter,
  prefixMeter,
  verificationMeter,
  trapSetMeter,
  promiseMeter,
];

/** Options of runScorecard. */
export type RunScorecardOptions = ScorecardContext & {
  /** The directory of the measurements. */
  readonly directory: string;
  /** The ids of the claims to measure; all by default. */
  readonly only?: readonly string[];
  readonly meters?: readonly ScorecardMeter[];
  /** Called before claims are measured. */
  readonly onStart?: (titles: readonly string[]) => void;
};

/** A row, and why it was not measured now. */
export type MeasuredRow = ScoreRow & { readonly reason?: string };

/** Measures claims one after the other. A measurement that fails does not stop the others, and leaves an earlier figure as it is. */
export async function runScorecard(options: RunScorecardOptions): Promise<readonly MeasuredRow[]> {
  const { directory, only = scorecardClaims.map(({ id }) => id), meters = scorecardMeters, onStart } = options;
  const reasons = new Map<string, string>();
  for (const { ids, measure } of meters) {
    const wanted = ids.filter((id) => only.includes(id));
    if (wanted.length === 0) continue;
    onStart?.(scorecardClaims.filter(({ id }) => wanted.includes(id)).map(({ title }) => title));
    try {
      options.signal.throwIfAborted();
      const counts = await measure(options);
      for (const id of wanted) saveCount(directory, id, counts[id], reasons);
    } catch (error) {
      for (const id of wanted) reasons.set(id, errorMessage(error));
    }
  }
  return createScorecard(readMeasurements(directory))
    .filter(({ id }) => only.includes(id))
    .map((row) => {
      const reason = reasons.get(row.id);
      return reason === undefined ? row : { ...row, reason };
    });
}

function saveCount(
  directory: string,
  id: string,
  count: ScorecardCount | undefined,
  reasons: Map<string, string>,
): void {
  if (!count || count.total === 0) return void reasons.set(id, 'There was nothing to count: the total is 0.');
  saveMeasurement(directory, { id, ...count, when: new Date().toISOString(), how: 'fairlead scorecard run' });
}
