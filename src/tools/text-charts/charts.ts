// Bar and line charts of block and box characters.
import { maxOf, minOf } from '../../core/index.ts';
import { displayWidth, formatFigure, padToWidth } from './display-width.ts';

/** A value with its label. */
export type DataPoint = { readonly label: string; readonly value: number };

const barEighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar for each value; negative values use another character. */
export function drawBars(points: readonly DataPoint[], width: number): readonly string[] {
  const labels = Math.min(maxOf(points.map(({ label }) => displayWidth(label))), Math.floor(width / 3));
  const figures = maxOf(points.map(({ value }) => formatFigure(value).length));
  const chartWidth = Math.max(1, width - labels - figures - 4);
  const largest = maxOf(points.map(({ value }) => Math.abs(value)));
  return points.map(({ label, value }) => {
    const length = largest === 0 ? 0 : (Math.abs(value) / largest) * chartWidth;
    const fullBlocks = Math.floor(length);
    const bar =
      value < 0
        ? '░'.repeat(Math.round(length))
        : '█'.repeat(fullBlocks) +
          (fullBlocks < chartWidth ? (barEighths[Math.floor((length - fullBlocks) * 8)] ?? '') : '');
    return `${padToWidth(label, labels)} │ ${padToWidth(bar, chartWidth)} ${formatFigure(value).padStart(figures)}`.trimEnd();
  });
}

const plotHeight = 12;

/** Draws a line chart with the highest and lowest value at its side. */
export function drawLine(points: readonly DataPoint[], width: number): readonly string[] {
  const values = points.map(({ value }) => value);
  const [low, high] = [minOf(values), maxOf(values)];
  const side = Math.max(formatFigure(low).length, formatFigure(high).length);
  const chartWidth = Math.max(2, width - side - 2);
  const columns = downsample(values, Math.min(chartWidth, Math.max(2, values.length)));
  const levels = columns.map((value) =>
    high === low ? 0 : Math.round(((value - low) / (high - low)) * (plotHeight - 1)),
  );
  const lines = Array.from({ length: plotHeight }, (_, row) => {
    const level = plotHeight - 1 - row;
    const mark = level === plotHeight - 1 ? formatFigure(high) : level === 0 ? formatFigure(low) : '';
    const cells = levels.map((at, i) => glyphAt(level, at, levels[i - 1] ?? at));
    return `${mark.padStart(side)} ┤${cells.join('')}`.trimEnd();
  });
  const [first, last] = [points[0]?.label ?? '', points.at(-1)?.label ?? ''];
  const foot = `${' '.repeat(side)} └${'─'.repeat(columns.length)}`;
  return [...lines, foot, `${' '.repeat(side + 2)}${first} → ${last}`];
}

/** Returns the character of a cell: the line itself, or the step from one level to the next. */
function glyphAt(level: number, at: number, before: number): string {
  if (level === at) return before === at ? '─' : before < at ? '╭' : '╰';
  if (level === before) return before < at ? '╯' : '╮';
  return level > Math.min(at, before) && level < Math.max(at, before) ? '│' : ' ';
}

/** Reduces the values to a number of columns, each the mean of its values. */
function downsample(values: readonly number[], count: number): readonly number[] {
  if (values.length === 1) return [values[0] ?? 0, values[0] ?? 0];
  return Array.from({ length: count }, (_, i) => {
    const part = values.slice(
      Math.floor((i * values.length) / count),
      Math.max(Math.floor(((i + 1) * values.length) / count), Math.floor((i * values.length) / count) + 1),
    );
    return part.reduce((sum, each) => sum + each, 0) / part.length;
  });
}
