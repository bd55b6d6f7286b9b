// Deletes old data from a store: ended runs with their sessions, unread messages of ended runs, and uncommitted reservations.
import { assertValidTime } from './run-row.ts';

/** The time before which data is old: in milliseconds, as ISO 8601, and as a UTC day. */
export type PruneCutoff = { readonly ms: number; readonly iso: string; readonly day: string };

/** The statements of a store that delete. */
export type PruneStatements = {
  /** Deletes up to `limit` ended runs with their sessions, and returns how many. */
  deleteRuns(cutoff: PruneCutoff, limit: number): Promise<number>;
  /** Deletes messages, and adds reservations that were never committed to the spending of their day. */
  deleteRest(cutoff: PruneCutoff): Promise<void>;
};

/** A statement deletes so many runs at most, so that other processes do not wait long. */
const pruneBatchSize = 500;

/** Deletes what is older than a time, and returns how many runs were deleted. */
export async function prune(time: string, statements: PruneStatements): Promise<number> {
  assertValidTime(time);
  const iso = new Date(Date.parse(time)).toISOString();
  const cutoff = { ms: Date.parse(time), iso, day: iso.slice(0, 10) };
  let runs = 0;
  for (let deleted = pruneBatchSize; deleted === pruneBatchSize; runs += deleted)
    deleted = await statements.deleteRuns(cutoff, pruneBatchSize);
  await statements.deleteRest(cutoff);
  return runs;
}
