// Parses measurements from diagnostics of tests, such as "measured prefix-kept 299/299".
import type { RateCount } from '../../src/fleet/health/index.ts';

/** Parses a diagnostic of a test; returns undefined if it is not a measurement. */
export function parseMeasurement(remark: string): (RateCount & { readonly id: string }) | undefined {
  const [, id, good, total] = /^measured ([a-z][a-z-]*) (\d+)\/(\d+)$/.exec(remark) ?? [];
  return id === undefined ? undefined : { id, good: Number(good), total: Number(total) };
}

/** Returns the claim ids that the source of a test measures. */
export const parseMeasuredIds = (source: string): readonly string[] =>
  [...source.matchAll(/diagnostic\(\s*`measured ([a-z][a-z-]*) \$\{/g)].flatMap(([, id]) => id ?? []);
