// Compares measured values with the limits in targets.json.

/** A limit of a measured value. */
export type Target = {
  readonly name: string;
  readonly unit: 'ms' | 'MB' | 'bytes' | 'USD';
  readonly max: number;
};

/** Measured values by name, and where they were measured. */
export type KeptResults = {
  readonly when: string;
  readonly machine: string;
  readonly values: Readonly<Record<string, number>>;
};

/** The content of targets.json. */
export type TargetsFile = { readonly targets: readonly Target[]; readonly kept: KeptResults };

/** The lines of a comparison, and whether every value was measured and is within its limit. */
export type Comparison = { readonly lines: readonly string[]; readonly isMet: boolean };

/** Compares values with the limits; a value that is missing does not meet its limit. */
export function compareWithTargets(
  { targets, kept }: TargetsFile,
  values: Readonly<Record<string, number>>,
): Comparison {
  const rows = targets.map(({ name, unit, max }) => {
    const value = values[name];
    const before = kept.values[name];
    const isMet = value !== undefined && value <= max;
    const ratio = value === undefined || !before ? '' : `, x${(value / before).toFixed(2)} of the kept result`;
    return {
      isMet,
      line: `${isMet ? 'ok  ' : 'FAIL'}  ${name.padEnd(34)} ${value === undefined ? 'not measured' : `${value} ${unit}`} (limit ${max} ${unit}${ratio})`,
    };
  });
  return { lines: rows.map(({ line }) => line), isMet: rows.every(({ isMet }) => isMet) };
}
