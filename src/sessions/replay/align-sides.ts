// Aligns both sides of a difference line by line: equal lines at both ends are left out, and long lines begin shortly before they differ.
import type { ReplayDifference } from './difference.ts';

/** Characters of a line before its first difference that are shown. */
const charsBefore = 40;
/** Characters of a side that are read: a result of a tool can have megabytes. */
const maxSideChars = 20_000;
/** The text of a side that did not happen. */
export const absentText = '(nothing)';

/** Both sides of a difference without the equal lines at both ends. */
export type AlignedSides = {
  /** Pairs of lines; a side that has fewer lines has empty ones. */
  readonly rows: readonly (readonly [recorded: string, replayed: string])[];
  /** The numbers of equal lines that were left out. */
  readonly before: number;
  readonly after: number;
  /** Whether rows or the end of a side were left out. */
  readonly isCut: boolean;
};

/** Aligns the sides of a difference, up to a number of rows. */
export function alignSides(
  { recorded, replayed }: Pick<ReplayDifference, 'recorded' | 'replayed'>,
  maxRows: number = Number.POSITIVE_INFINITY,
): AlignedSides {
  const { left, right, before, after } = trimEqualLines(toLines(recorded), toLines(replayed));
  const count = Math.max(left.length, right.length);
  const rows = Array.from({ length: Math.min(count, maxRows) }, (_, i) => excerptLines(left[i] ?? '', right[i] ?? ''));
  const isLong = [recorded, replayed].some((side) => (side?.length ?? 0) > maxSideChars);
  return { rows, before, after, isCut: count > maxRows || isLong };
}

const toLines = (text = absentText): readonly string[] => text.slice(0, maxSideChars).toWellFormed().split('\n');

type TrimmedSides = {
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly before: number;
  readonly after: number;
};

function trimEqualLines(left: readonly string[], right: readonly string[]): TrimmedSides {
  const shorter = Math.min(left.length, right.length);
  let before = 0;
  while (before < shorter && left[before] === right[before]) before++;
  let after = 0;
  while (after < shorter - before && left.at(-1 - after) === right.at(-1 - after)) after++;
  return {
    left: left.slice(before, left.length - after),
    right: right.slice(before, right.length - after),
    before,
    after,
  };
}

/** Both lines from shortly before their first difference on. */
function excerptLines(left: string, right: string): readonly [string, string] {
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at++;
  if (at <= charsBefore * 2) return [left, right];
  const cut = (line: string): string => `…${line.slice(at - charsBefore).toWellFormed()}`;
  return [cut(left), cut(right)];
}
