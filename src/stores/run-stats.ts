// Statistics of ended runs in time buckets: count, reasons, cost and duration percentiles.
import { FairleadError, type DurationPercentiles, type StopReason, type RunStats } from '../core/index.ts';

/** An ended run; times and durations are in milliseconds. */
export type EndedRunRow = {
  readonly ended: number;
  readonly reason: StopReason;
  readonly usd: number;
  readonly tokens: number;
  readonly queue_ms: number | null;
  readonly duration_ms: number | null;
};

const maxBuckets = 10_000;

/** A time range and the length of its buckets, in milliseconds. */
export type BucketRange = { readonly from: number; readonly to: number; readonly bucketMs: number };

/** Creates the function that groups runs by bucket. Throws if there would be too many buckets, before any run is read. */
export function createRunStatsAggregator({
  from,
  to,
  bucketMs,
}: BucketRange): (rows: Iterable<EndedRunRow>) => readonly RunStats[] {
  const count = Math.ceil((to - from) / bucketMs);
  if (!(count >= 0 && count <= maxBuckets && bucketMs > 0)) throw tooManyBucketsError(count);
  return (rows) => {
    const buckets: EndedRunRow[][] = Array.from({ length: count }, () => []);
    for (const row of rows) buckets[Math.floor((row.ended - from) / bucketMs)]?.push(row);
    return buckets.map((bucket, i) => toRunStats(bucket, from + i * bucketMs));
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
    queueMs: computePercentiles(rows.flatMap((row) => row.queue_ms ?? [])),
    durationMs: computePercentiles(rows.flatMap((row) => row.duration_ms ?? [])),
  };
}

/** By nearest rank, so that each percentile is a measured value. */
function computePercentiles(durations: readonly number[]): DurationPercentiles {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return sorted.length === 0 ? undefined : [at(0.5), at(0.95), at(0.99)];
}

const tooManyBucketsError = (count: number): FairleadError =>
  new FairleadError('queue/bad-time-range', `Cannot compute statistics in ${count} buckets.`, {
    blame: 'user',
    hint: `The start must be before the end, with at most ${maxBuckets} buckets between them.`,
  });
