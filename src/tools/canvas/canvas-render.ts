// Draws tables, charts and trees as plain text, from data, within a width.
import { output, type Json, type Tool } from '../../core/index.ts';
import { drawBars, drawLine, type Point } from './charts.ts';
import { cut } from './columns.ts';
import { drawTable } from './table.ts';
import { drawTree } from './tree.ts';

const usualWidth = 80;

type Drawing = {
  readonly kind: 'table' | 'bars' | 'line' | 'tree';
  readonly title?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly Json[])[];
  readonly points?: readonly Point[];
  readonly tree?: Json;
  readonly width?: number;
};

/** The tool that draws for a person. */
export const canvasRender: Tool = {
  name: 'canvas_render',
  description:
    'Draw a table (columns, rows), bars or a line (points), or a tree (nested objects) for the person to see.',
  input: {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['table', 'bars', 'line', 'tree'] },
      title: { type: 'string', maxLength: 200 },
      columns: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 30 },
      rows: { type: 'array', items: { type: 'array', maxItems: 30 }, maxItems: 500 },
      points: {
        type: 'array',
        minItems: 1,
        maxItems: 2000,
        items: {
          type: 'object',
          properties: { label: { type: 'string' }, value: { type: 'number' } },
          required: ['label', 'value'],
        },
      },
      tree: { type: 'object' },
      width: { type: 'integer', minimum: 20, maximum: 200, description: `${usualWidth} unless given.` },
    },
    required: ['kind'],
    additionalProperties: false,
  },
  effect: 'read',
  run(input) {
    const drawing = input as Drawing;
    const { kind, title, width = usualWidth } = drawing;
    const lines = linesOf(drawing, width);
    if (typeof lines === 'string') return output({ failed: true, text: `A ${kind} needs ${lines}.` });
    const heading = title === undefined ? [] : [cut(title, width)];
    return output({ text: [...heading, ...lines.map((line) => cut(line, width))].join('\n'), data: { kind, width } });
  },
};

/** The lines of a drawing, or what it lacks. */
function linesOf({ kind, columns, rows, points, tree }: Drawing, width: number): readonly string[] | string {
  if (kind === 'table') return columns && rows ? drawTable(columns, rows, width) : 'columns and rows';
  if (kind === 'tree') return tree === undefined ? 'a tree' : drawTree(tree, width);
  if (!points) return 'points';
  return kind === 'bars' ? drawBars(points, width) : drawLine(points, width);
}
