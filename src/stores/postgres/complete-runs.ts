// Writes down what came of runs, together for those that end at the same time.
import { errorMessage, type FleetRun, type RunSettlement } from '../../core/index.ts';
import { computeRetryDelayMs, tooManyFailuresOutcome, maxFailures } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';

/** A run that was handed to this process: under which name, and as which of its attempts. */
export type RunClaim = {
  readonly run: FleetRun;
  readonly key: number;
  readonly holder: string;
  readonly attempt: number;
  readonly failures: number;
};

/** What came of a run, as the function `settle` takes it. */
type CompletionRow = {
  readonly claim: RunClaim;
  readonly transition: RunSettlement['type'] | 'failed';
  readonly payload: string | null;
  readonly reason?: string;
  readonly usd?: number;
  readonly tokens?: number;
  /** Milliseconds before it is tried again. */
  readonly retryDelayMs?: number;
};

const completeRunsSql = `
SELECT fairlead.settle(key, holder, attempt, how, said, why, usd, tokens, wait) AS mine
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::double precision[], $8::double precision[], $9::bigint[])
  AS result (key, holder, attempt, how, said, why, usd, tokens, wait)`;

/** Writes down what came of runs; nothing where one is no longer this worker's. */
export type RunCompleter = {
  complete(claim: RunClaim, settlement: RunSettlement): Promise<void>;
  /** Puts a run back that could not be worked on, each time for longer, and ends it once it has failed too often. Gives how long it waits. */
  fail(claim: RunClaim, thrown: unknown, retryMs: number): Promise<number>;
};

/** The one way to settle runs in a store. */
export function createRunCompleter({ db }: PostgresContext): RunCompleter {
  const write = async (results: readonly CompletionRow[]): Promise<readonly undefined[]> => {
    const sorted = results.toSorted((a, b) => a.claim.key - b.claim.key);
    await db.all(completeRunsSql, [
      sorted.map(({ claim }) => claim.key),
      sorted.map(({ claim }) => claim.holder),
      sorted.map(({ claim }) => claim.attempt),
      sorted.map(({ transition }) => transition),
      sorted.map(({ payload }) => payload),
      sorted.map(({ reason = null }) => reason),
      sorted.map(({ usd = 0 }) => usd),
      sorted.map(({ tokens = 0 }) => tokens),
      sorted.map(({ retryDelayMs = 0 }) => retryDelayMs),
    ]);
    return results.map(() => undefined);
  };
  const together = createBatcher(write);
  // One that tells its parent needs the rows of two runs: several of these in one statement could wait for those of another in a ring.
  const put = async (result: CompletionRow): Promise<void> =>
    void (await (result.claim.run.parent === undefined ? together(result) : write([result])));
  const settle = (claim: RunClaim, settlement: RunSettlement): Promise<void> =>
    put({ claim, ...toCompletionRow(settlement) });
  return {
    complete: settle,
    async fail(claim, thrown, retryMs) {
      const failures = claim.failures + 1;
      if (failures >= maxFailures) {
        await settle(claim, { type: 'ended', outcome: tooManyFailuresOutcome(failures, errorMessage(thrown)) });
        return 0;
      }
      const wait = computeRetryDelayMs(claim.failures, retryMs);
      await put({ claim, transition: 'failed', payload: null, retryDelayMs: wait });
      return wait;
    },
  };
}

function toCompletionRow(settlement: RunSettlement): Omit<CompletionRow, 'claim'> {
  if (settlement.type === 'left') return { transition: 'left', payload: null };
  if (settlement.type === 'resting') return { transition: 'resting', payload: JSON.stringify(settlement.questions) };
  const { outcome } = settlement;
  const { usd, input, output } = outcome.spent;
  return {
    transition: 'ended',
    payload: JSON.stringify(outcome),
    reason: outcome.reason,
    usd,
    tokens: Math.round(input + output),
  };
}
