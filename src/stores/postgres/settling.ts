// Writes down what came of runs, together for those that end at the same time.
import { errorMessage, type FleetRun, type RunSettlement } from '../../core/index.ts';
import { delayAfter, givenUp, mostFailures } from '../run-row.ts';
import type { Base } from './base.ts';
import { inBatches } from './batches.ts';

/** A run that was handed to this process: under which name, and as which of its attempts. */
export type Claim = {
  readonly run: FleetRun;
  readonly key: number;
  readonly holder: string;
  readonly attempt: number;
  readonly failures: number;
};

/** What came of a run, as the function `settle` takes it. */
type Result = {
  readonly claim: Claim;
  readonly how: RunSettlement['type'] | 'failed';
  readonly said: string | null;
  readonly why?: string;
  readonly usd?: number;
  readonly tokens?: number;
  /** Milliseconds before it is tried again. */
  readonly wait?: number;
};

const settleSql = `
SELECT fairlead.settle(key, holder, attempt, how, said, why, usd, tokens, wait) AS mine
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::double precision[], $8::double precision[], $9::bigint[])
  AS result (key, holder, attempt, how, said, why, usd, tokens, wait)`;

/** Writes down what came of runs; nothing where one is no longer this worker's. */
export type Settling = {
  settle(claim: Claim, settlement: RunSettlement): Promise<void>;
  /** Puts a run back that could not be worked on, each time for longer, and ends it once it has failed too often. Gives how long it waits. */
  fail(claim: Claim, thrown: unknown, retryMs: number): Promise<number>;
};

/** The one way to settle runs in a store. */
export function settlingIn({ db }: Base): Settling {
  const write = async (results: readonly Result[]): Promise<readonly undefined[]> => {
    const sorted = results.toSorted((a, b) => a.claim.key - b.claim.key);
    await db.all(settleSql, [
      sorted.map(({ claim }) => claim.key),
      sorted.map(({ claim }) => claim.holder),
      sorted.map(({ claim }) => claim.attempt),
      sorted.map(({ how }) => how),
      sorted.map(({ said }) => said),
      sorted.map(({ why = null }) => why),
      sorted.map(({ usd = 0 }) => usd),
      sorted.map(({ tokens = 0 }) => tokens),
      sorted.map(({ wait = 0 }) => wait),
    ]);
    return results.map(() => undefined);
  };
  const together = inBatches(write);
  // One that tells its parent needs the rows of two runs: several of these in one statement could wait for those of another in a ring.
  const put = async (result: Result): Promise<void> =>
    void (await (result.claim.run.parent === undefined ? together(result) : write([result])));
  const settle = (claim: Claim, settlement: RunSettlement): Promise<void> => put({ claim, ...resultOf(settlement) });
  return {
    settle,
    async fail(claim, thrown, retryMs) {
      const failures = claim.failures + 1;
      if (failures >= mostFailures) {
        await settle(claim, { type: 'ended', outcome: givenUp(failures, errorMessage(thrown)) });
        return 0;
      }
      const wait = delayAfter(claim.failures, retryMs);
      await put({ claim, how: 'failed', said: null, wait });
      return wait;
    },
  };
}

function resultOf(settlement: RunSettlement): Omit<Result, 'claim'> {
  if (settlement.type === 'left') return { how: 'left', said: null };
  if (settlement.type === 'resting') return { how: 'resting', said: JSON.stringify(settlement.questions) };
  const { outcome } = settlement;
  const { usd, input, output } = outcome.spent;
  return { how: 'ended', said: JSON.stringify(outcome), why: outcome.reason, usd, tokens: Math.round(input + output) };
}
