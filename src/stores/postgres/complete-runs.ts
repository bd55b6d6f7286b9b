// Writes the results of runs to PostgreSQL; runs that end at the same time share a statement.
import { errorMessage, type RunSettlement } from '../../core/index.ts';
import type { RunClaim } from '../run-and-write-result.ts';
import {
  computeRetryDelayMs,
  maxFailures,
  storedWaitingStatus,
  toOutcomeColumns,
  toRestTime,
  tooManyFailuresOutcome,
} from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';

/** A claimed run, with the number of its failures so far. */
export type PostgresRunClaim = RunClaim & { readonly failures: number };

/** The result of a run, as the SQL function `settle` takes it. */
type CompletionRow = {
  readonly claim: PostgresRunClaim;
  /** `left`: the worker has released the run. */
  readonly transition: 'ended' | typeof storedWaitingStatus | 'left' | 'failed';
  /** The outcome of an ended run, or the pending approvals of a waiting one, as JSON. */
  readonly payload: string | null;
  readonly reason?: string;
  readonly usd?: number;
  readonly tokens?: number;
  readonly retryDelayMs?: number;
};

const completeRunsSql = `
SELECT fairlead.settle(key, holder, attempt, transition, payload, reason, usd, tokens, delay)
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::double precision[], $8::double precision[], $9::bigint[])
  AS result (key, holder, attempt, transition, payload, reason, usd, tokens, delay)`;

/** Sets the end of the rest of a run before `settle` queues it: a run that is queued is not claimed before it. */
const restSql = `
UPDATE fairlead.runs SET later = $4 WHERE key = $1 AND holder = $2 AND attempts = $3 AND status = 'running' AND woken = 0`;

/** Writes results; nothing is written if another worker has taken the run over. */
export type RunCompleter = {
  readonly complete: (claim: PostgresRunClaim, settlement: RunSettlement) => Promise<void>;
  /** Queues a failed run again, with a delay that grows, or ends it after too many failures. Returns the delay in milliseconds; 0 if it ended. */
  fail(claim: PostgresRunClaim, thrown: unknown, retryMs: number): Promise<number>;
};

/** Creates the completer of a store. */
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
  const writeTogether = createBatcher(write);
  // A run with a parent locks the rows of two runs: several of these in one statement could deadlock with those of another.
  const save = async (result: CompletionRow): Promise<void> =>
    void (await (result.claim.run.parent === undefined ? writeTogether(result) : write([result])));
  const complete = async (claim: PostgresRunClaim, settlement: RunSettlement): Promise<void> => {
    if (settlement.type === 'released' && settlement.notBefore !== undefined)
      await db.all(restSql, [claim.key, claim.holder, claim.attempt, toRestTime(settlement.notBefore)]);
    await save({ claim, ...toCompletionRow(settlement) });
  };
  return {
    complete,
    async fail(claim, thrown, retryMs) {
      const failures = claim.failures + 1;
      if (failures >= maxFailures) {
        await complete(claim, { type: 'completed', outcome: tooManyFailuresOutcome(failures, errorMessage(thrown)) });
        return 0;
      }
      const retryDelayMs = computeRetryDelayMs(claim.failures, retryMs);
      await save({ claim, transition: 'failed', payload: null, retryDelayMs });
      return retryDelayMs;
    },
  };
}

function toCompletionRow(settlement: RunSettlement): Omit<CompletionRow, 'claim'> {
  if (settlement.type === 'released') return { transition: 'left', payload: null };
  if (settlement.type === 'waiting')
    return { transition: storedWaitingStatus, payload: JSON.stringify(settlement.pendingApprovals) };
  const { outcome: payload, ...columns } = toOutcomeColumns(settlement.outcome);
  return { transition: 'ended', payload, ...columns };
}
