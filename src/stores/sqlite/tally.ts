// What ended when, how, at what cost and how fast, in stretches of time.
import { FairleadError, type Percentiles, type StopReason, type Tally } from '../../core/index.ts';
import type { Base } from './base.ts';

type Row = {
  readonly ended: number;
  readonly reason: StopReason;
  readonly usd: number;
  readonly tokens: number;
  readonly waited: number | null;
  readonly took: number | null;
};

const mostStretches = 10_000;

/** The runs that ended from one time up to another, stretch by stretch. */
export function tally(base: Base, from: number, to: number, stretchMs: number): readonly Tally[] {
  const count = Math.ceil((to - from) / stretchMs);
  if (!(count >= 0 && count <= mostStretches && stretchMs > 0)) throw tooMany(count);
  const stretches: Row[][] = Array.from({ length: count }, () => []);
  const sql = `SELECT ended, reason, usd, tokens, started - queued AS waited, ended - started AS took FROM runs
    WHERE ended >= ? AND ended < ? ORDER BY ended`;
  for (const row of base.each<Row>(sql, from, to)) stretches[Math.floor((row.ended - from) / stretchMs)]?.push(row);
  return stretches.map((rows, i) => tallyOf(rows, from + i * stretchMs));
}

function tallyOf(rows: readonly Row[], from: number): Tally {
  const reasons: Partial<Record<StopReason, number>> = {};
  for (const { reason } of rows) reasons[reason] = (reasons[reason] ?? 0) + 1;
  return {
    from: new Date(from).toISOString(),
    ended: rows.length,
    reasons,
    usd: rows.reduce((sum, { usd }) => sum + usd, 0),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    waited: percentiles(rows.flatMap(({ waited }) => waited ?? [])),
    took: percentiles(rows.flatMap(({ took }) => took ?? [])),
  };
}

/** By nearest rank: each of them was really measured. */
function percentiles(durations: readonly number[]): Percentiles {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return sorted.length === 0 ? undefined : [at(0.5), at(0.95), at(0.99)];
}

const tooMany = (count: number): FairleadError =>
  new FairleadError('queue/bad-stretch', `A tally of ${count} stretches cannot be made.`, {
    blame: 'user',
    hint: `Ask for a time that lies before another one, in at most ${mostStretches} stretches.`,
  });
