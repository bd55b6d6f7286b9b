// Draws a chart, table or tree from data.
import type { Json } from '../../core/index.ts';
import { drawBars, drawLine, type DataPoint } from './charts.ts';
import { truncateToWidth } from './display-width.ts';
import { drawTable } from './table.ts';
import { drawTree } from './tree.ts';

/** What to draw. */
export type Drawing = {
  readonly kind: 'table' | 'bars' | 'line' | 'tree';
  readonly title?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly Json[])[];
  readonly points?: readonly DataPoint[];
  readonly tree?: Json;
  readonly width: number;
};

/** Returns the lines of a drawing within the width, or what is missing in the data. */
export function drawLines({ title, ...drawing }: Drawing): readonly string[] | string {
  const lines = drawKind(drawing);
  if (typeof lines === 'string') return lines;
  return [...(title === undefined ? [] : [title]), ...lines].map((line) => truncateToWidth(line, drawing.width));
}

function drawKind({ kind, columns, rows, points, tree, width }: Drawing): readonly string[] | string {
  if (kind === 'table') return columns && rows ? drawTable(columns, rows, width) : 'columns and rows';
  if (kind === 'tree') return tree === undefined ? 'a tree' : drawTree(tree, width);
  if (!points) return 'points';
  return kind === 'bars' ? drawBars(points, width) : drawLine(points, width);
}
