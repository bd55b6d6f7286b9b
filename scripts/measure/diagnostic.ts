// What a test says that it measured, in a remark: "measured prefix-kept 299/299".
import type { RateCount } from '../../src/fleet/health/index.ts';

/** A measurement in a remark of a test, if it is one. */
export function parseMeasurement(remark: string): (RateCount & { readonly id: string }) | undefined {
  const [, id, good, total] = /^measured ([a-z][a-z-]*) (\d+)\/(\d+)$/.exec(remark) ?? [];
  return id === undefined ? undefined : { id, good: Number(good), total: Number(total) };
}

/** The ids that the source of a test measures. */
export const parseMeasuredIds = (source: string): readonly string[] =>
  [...source.matchAll(/diagnostic\(\s*`measured ([a-z][a-z-]*) \$\{/g)].flatMap(([, id]) => id ?? []);
