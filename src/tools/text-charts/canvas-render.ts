// The canvas_render tool: draws tables, charts and trees as plain text within a width.
import { toolOutput, type Tool } from '../../core/index.ts';
import type { Drawing } from './drawing.ts';

const defaultWidth = 80;

/** The canvas_render tool. */
export const canvasRender: Tool = {
  name: 'canvas_render',
  description:
    'Draw a table, bars, a line or a tree for the user. A table has columns and rows, bars and a line have points, a tree has nested objects.',
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
      width: { type: 'integer', minimum: 20, maximum: 200, description: `${defaultWidth} unless given.` },
    },
    required: ['kind'],
    additionalProperties: false,
  },
  effect: 'read',
  async execute(input) {
    const { kind, width = defaultWidth, ...drawing } = input as Omit<Drawing, 'width'> & { readonly width?: number };
    const { drawLines } = await import('./drawing.ts');
    const lines = drawLines({ ...drawing, kind, width });
    if (typeof lines === 'string') return toolOutput({ failed: true, text: `A ${kind} needs ${lines}.` });
    return toolOutput({ text: lines.join('\n'), data: { kind, width } });
  },
};
