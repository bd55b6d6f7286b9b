// The cache ledger of a session as a response.
import { z } from 'zod';
import type { Event } from '../../../core/index.ts';
import { priceOf } from '../../../providers/index.ts';
import { reportCache, type CacheLedger } from '../../../sessions/index.ts';

const count = z.number().exactOptional();

/** The cache ledger as a response. */
export const cacheLedgerSchema: z.ZodType = z.object({
  turns: z.array(
    z.object({
      turn: z.number(),
      time: z.string(),
      model: z.string(),
      result: z.enum(['first', 'hit', 'miss', 'unreported']),
      input: count,
      cacheRead: count,
      cacheWrite: count,
      breaks: z.array(z.string()),
      detail: z.string().exactOptional(),
      lostTokens: z.number(),
      savedUsd: count,
      lostUsd: count,
    }),
  ),
  hits: z.number(),
  misses: z.number(),
  input: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  lostTokens: z.number(),
  savedUsd: count,
  lostUsd: count,
});

/** Builds the ledger of a session with the known prices. */
export const createCacheLedger = (events: readonly Event[]): CacheLedger =>
  reportCache(events, { priceOf: (provider, model) => priceOf(provider ?? '', model) });
