// Which rows of the mission have a passing test: rows are the ids in brackets in the titles of tests.

/** The rows these titles name. */
export const parseRequirementIds = (titles: readonly string[]): readonly string[] =>
  titles.flatMap((title) =>
    [...title.matchAll(/\[([A-Z]\d+(?:[ ,]+[A-Z]\d+)*)\]/g)].flatMap(([, ids = '']) => ids.split(/[ ,]+/)),
  );

/** A line for each family of rows with a passing test, and one for those whose only tests failed or were skipped. */
export function formatRequirementReport(passed: readonly string[], others: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const row of parseRequirementIds(passed)) counts.set(row, (counts.get(row) ?? 0) + 1);
  const order = (a: string, b: string): number =>
    a[0]?.localeCompare(b[0] ?? '') || Number(a.slice(1)) - Number(b.slice(1));
  const families = Map.groupBy([...counts.keys()].toSorted(order), (row) => row[0] ?? '');
  const unproven = [...new Set(parseRequirementIds(others))].filter((row) => !counts.has(row)).toSorted(order);
  return [
    '\nRows with a passing test (and how many):',
    ...[...families].map(
      ([family, rows]) =>
        `  ${family}: ${rows.length} rows: ${rows.map((row) => `${row}×${counts.get(row)}`).join(' ')}`,
    ),
    ...(unproven.length ? [`Rows whose tests failed or were skipped: ${unproven.join(' ')}`] : []),
  ].join('\n');
}
