// Text charts: the drawing matches the data, and never exceeds its width.
import assert from 'node:assert/strict';
import test from 'node:test';
import { callTool } from '../../../test/support/tool-call.ts';
import type { Json } from '../../core/index.ts';
import { canvasRender } from './canvas-render.ts';
import { displayWidth } from './display-width.ts';

const draw = async (input: Json): Promise<string> => (await callTool([canvasRender], 'canvas_render', input)).text;

test('[P26] a table has aligned columns, numbers to the right, wide characters counted as two', async () => {
  const rows = [
    ['rope', 12.5],
    ['綱', 7],
    ['none', null],
  ];
  assert.equal(
    await draw({ kind: 'table', title: 'Stock', columns: ['Thing', 'Metres'], rows }),
    `Stock
┌───────┬────────┐
│ Thing │ Metres │
├───────┼────────┤
│ rope  │   12.5 │
│ 綱    │      7 │
│ none  │        │
└───────┴────────┘`,
  );
});

test('[P26] bar and line charts show values to scale', async () => {
  const points = [
    { label: 'one', value: 1 },
    { label: 'four', value: 4 },
    { label: 'less', value: -2 },
  ];
  assert.equal(
    await draw({ kind: 'bars', points, width: 22 }),
    'one  │ ███           1\nfour │ ████████████  4\nless │ ░░░░░░       -2',
  );
  const line = await draw({
    kind: 'line',
    points: [0, 1, 2, 3, 2].map((value, i) => ({ label: `d${i}`, value })),
    width: 30,
  });
  assert.match(line, /^3 ┤ {3}╭╮\n/);
  assert.match(line, /\n0 ┤─╯\n {2}└─{5}\n {3}d0 → d4$/);
});

test('[P26] a tree shows its hierarchy', async () => {
  assert.equal(
    await draw({ kind: 'tree', tree: { src: { 'a.ts': 12, lib: ['x', 'y'] }, docs: {}, readme: null } }),
    `├─ src
│  ├─ a.ts: 12
│  └─ lib
│     ├─ x
│     └─ y
├─ docs
└─ readme`,
  );
});

test('[P26] attack 71: output never exceeds its width, whatever it contains, and contains no invisible characters', async () => {
  const nasty = ['\u001b[2J\u202e', '綱'.repeat(80), '👩‍💻'.repeat(40), 'a\nb', '\u200b', 'x'.repeat(5000), ''];
  const drawings: readonly Json[] = [
    { kind: 'table', columns: nasty, rows: [nasty, nasty.map((_, i) => i * 1e9)] },
    { kind: 'table', columns: ['a'], rows: [] },
    { kind: 'bars', points: nasty.map((label, i) => ({ label, value: i * -1.23456789e20 })) },
    { kind: 'bars', points: [{ label: 'zero', value: 0 }] },
    { kind: 'line', points: nasty.map((label, i) => ({ label, value: 1 / (i + 1) })) },
    { kind: 'line', points: [{ label: 'one', value: 5 }] },
    { kind: 'line', points: Array.from({ length: 2000 }, (_, i) => ({ label: `${i}`, value: Math.sin(i / 50) })) },
    {
      kind: 'tree',
      tree: { [nasty[0] ?? '']: nasty, deep: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as Json },
    },
  ];
  for (const drawing of drawings)
    for (const width of [20, 60, 200]) {
      const text = await draw({ ...(drawing as object), title: 'x'.repeat(200), width });
      for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
      for (const hidden of ['\u001b', '\u202e', '\u200b']) assert.ok(!text.includes(hidden));
    }
});

test('[P26] data that cannot be drawn is reported', async () => {
  assert.equal(await draw({ kind: 'table', rows: [] }), 'A table needs columns and rows.');
  assert.equal(await draw({ kind: 'line' }), 'A line needs points.');
  assert.match(await draw({ kind: 'pie' }), /kind/);
});
