// Token counts shared by all wire formats: counts that a response does not state stay unknown.
import type { Usage } from '../core/index.ts';

/** Token counts, and the cost in US dollars if the server states one. */
export type ReportedUsage = { readonly usage: Usage; readonly usd?: number };

/** Drops unknown counts. */
export const omitUnknownCounts = (counts: { readonly [Key in keyof Usage]: number | undefined }): Usage =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));

/** Merges the usage object of a later stream event into an earlier one; null and absent fields keep their value. */
export const mergeCounts = <T extends { readonly [key: string]: unknown }>(before: T, update: T): T => ({
  ...before,
  ...Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null && value !== undefined)),
});

/** Fills unknown counts with zero; undefined if no count is known. */
export function fillCounts(usage: Usage): Required<Usage> | undefined {
  if (Object.values(usage).every((count) => count === undefined)) return undefined;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return { input, output, cacheRead, cacheWrite, reasoning };
}
