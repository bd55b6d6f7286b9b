// Tables of box characters, as wide as needed within a max width.
import { isObject, type Json, maxOf } from '../../core/index.ts';
import { displayWidth, padToWidth } from './display-width.ts';

const minColumnWidth = 3;

/** Draws a table with a header; cells that do not fit are truncated. */
export function drawTable(
  columns: readonly string[],
  rows: readonly (readonly Json[])[],
  width: number,
): readonly string[] {
  const count = maxOf(
    rows.map((row) => row.length),
    columns.length,
  );
  const cells = [columns, ...rows].map((row) => Array.from({ length: count }, (_, i) => cellText(row[i] ?? null)));
  const widths = fitColumnWidths(
    Array.from({ length: count }, (_, i) =>
      maxOf(
        cells.map((row) => displayWidth(row[i] ?? '')),
        1,
      ),
    ),
    width - 3 * count - 1,
  );
  const isNumeric = (i: number): boolean =>
    rows.length > 0 && rows.every((row) => typeof row[i] === 'number' || row[i] === null);
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((columns) => '─'.repeat(columns + 2)).join(middle) + right;
  const line = (row: readonly string[]): string =>
    `│${row.map((cell, i) => ` ${padToWidth(cell, widths[i] ?? 0, isNumeric(i) ? 'right' : 'left')} `).join('│')}│`;
  const [head = [], ...body] = cells;
  return [rule('┌', '┬', '┐'), line(head), rule('├', '┼', '┤'), ...body.map(line), rule('└', '┴', '┘')];
}

const cellText = (value: Json): string =>
  value === null ? '' : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);

/** Reduces the widest columns until all fit. No column becomes unreadably narrow. */
function fitColumnWidths(desiredWidths: readonly number[], availableWidth: number): readonly number[] {
  const widths = [...desiredWidths];
  let excessWidth = widths.reduce((sum, each) => sum + each, 0) - availableWidth;
  while (excessWidth > 0) {
    const widest = maxOf(widths);
    if (widest <= minColumnWidth) break;
    const next = maxOf(
      widths.filter((each) => each < widest),
      minColumnWidth,
    );
    const many = widths.filter((each) => each === widest).length;
    const step = Math.max(1, Math.min(widest - next, Math.floor(excessWidth / many)));
    for (const [i, each] of widths.entries())
      if (each === widest && excessWidth > 0) {
        widths[i] = each - step;
        excessWidth -= step;
      }
  }
  return widths;
}
