// What ended when, how, at what cost and how fast, in stretches of time.
import { FairleadError, type DurationPercentiles, type StopReason, type RunStats } from '../core/index.ts';

/** A run that ended: times and durations in milliseconds. */
export type EndedRunRow = {
  readonly ended: number;
  readonly reason: StopReason;
  readonly usd: number;
  readonly tokens: number;
  readonly waited: number | null;
  readonly took: number | null;
};

const maxBuckets = 10_000;

/** What is to be tallied: from a time up to another, in stretches, all in milliseconds. */
export type BucketRange = { readonly from: number; readonly to: number; readonly bucketMs: number };

/** The runs that ended, stretch by stretch; refused before they are read where there would be too many. */
export function createRunStatsAggregator({
  from,
  to,
  bucketMs,
}: BucketRange): (rows: Iterable<EndedRunRow>) => readonly RunStats[] {
  const count = Math.ceil((to - from) / bucketMs);
  if (!(count >= 0 && count <= maxBuckets && bucketMs > 0)) throw tooManyBucketsError(count);
  return (rows) => {
    const stretches: EndedRunRow[][] = Array.from({ length: count }, () => []);
    for (const row of rows) stretches[Math.floor((row.ended - from) / bucketMs)]?.push(row);
    return stretches.map((some, i) => toRunStats(some, from + i * bucketMs));
  };
}

function toRunStats(rows: readonly EndedRunRow[], from: number): RunStats {
  const reasons: Partial<Record<StopReason, number>> = {};
  for (const { reason } of rows) reasons[reason] = (reasons[reason] ?? 0) + 1;
  return {
    from: new Date(from).toISOString(),
    ended: rows.length,
    reasons,
    usd: rows.reduce((sum, { usd }) => sum + usd, 0),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    waited: computePercentiles(rows.flatMap(({ waited }) => waited ?? [])),
    took: computePercentiles(rows.flatMap(({ took }) => took ?? [])),
  };
}

/** By nearest rank: each of them was really measured. */
function computePercentiles(durations: readonly number[]): DurationPercentiles {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return sorted.length === 0 ? undefined : [at(0.5), at(0.95), at(0.99)];
}

const tooManyBucketsError = (count: number): FairleadError =>
  new FairleadError('queue/bad-stretch', `A tally of ${count} stretches cannot be made.`, {
    blame: 'user',
    hint: `Ask for a time that lies before another one, in at most ${maxBuckets} stretches.`,
  });
