// Orders test files by the seconds that they took before, longest first: a long file that begins last would be waited for alone.
import { readFileSync, writeFileSync } from 'node:fs';
import type { TestGroup } from './test-groups.ts';

/** The seconds of test files by path. */
export type TestSeconds = Readonly<Record<string, number>>;

// A file that is not in the table is new or short.
const defaultSeconds = 1;
const minKeptSeconds = 2;

/** Reads the table of seconds; without one every file counts the same. */
export function readTestSeconds(table: string): TestSeconds {
  try {
    return JSON.parse(readFileSync(table, 'utf8')) as TestSeconds;
  } catch {
    return {};
  }
}

/** Saves the files that took more than two seconds, longest first. */
export function writeTestSeconds(table: string, seconds: ReadonlyMap<string, number>): void {
  const kept = [...seconds]
    .map(([file, each]) => [file, Math.round(each)] as const)
    .filter(([, each]) => each > minKeptSeconds)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  writeFileSync(table, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
}

/** Returns groups and single files, longest first; those of equal length keep their order. */
export function orderTestFiles(
  groups: readonly TestGroup[],
  alone: readonly string[],
  seconds: TestSeconds,
): readonly string[] {
  const sum = (files: readonly string[]): number =>
    files.reduce((total, file) => total + (seconds[file] ?? defaultSeconds), 0);
  return [
    ...groups.map(({ file, members }) => ({ file, length: sum(members) })),
    ...alone.map((file) => ({ file, length: sum([file]) })),
  ]
    .toSorted((a, b) => b.length - a.length)
    .map(({ file }) => file);
}
