// A drawing from its data: the lines of it, or what it lacks.
import type { Json } from '../../core/index.ts';
import { drawBars, drawLine, type DataPoint } from './charts.ts';
import { truncateToWidth } from './display-width.ts';
import { drawTable } from './table.ts';
import { drawTree } from './tree.ts';

/** What is to be drawn. */
export type Drawing = {
  readonly kind: 'table' | 'bars' | 'line' | 'tree';
  readonly title?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly Json[])[];
  readonly points?: readonly DataPoint[];
  readonly tree?: Json;
  readonly width: number;
};

/** The lines of a drawing, none wider than it may be, or what it lacks. */
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
