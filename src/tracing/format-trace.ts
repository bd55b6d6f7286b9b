// Formats spans as a tree for a terminal: times, tokens and cost of each span, within the width of the screen. Text from outside is escaped.
import { escapeInvisibleLine, maxOf } from '../core/index.ts';
import type { Span } from './span.ts';
import { describeSpan, formatTokenCount, getSpanCost, sumTreeCost, type SpanTree } from './span-tree.ts';

/** How a tree is formatted. */
export type FormatTraceOptions = {
  /** The width of the screen in columns; 100 by default. */
  readonly width?: number;
  /** Returns the columns that a text takes; its length by default. */
  readonly measure?: (text: string) => number;
};

const minLabelWidth = 16;

/** Formats the trees, one line for each span, with the sums of each run. */
export function formatTrace(
  trees: readonly SpanTree[],
  { width = 100, measure = (text) => text.length }: FormatTraceOptions = {},
): string {
  if (trees.length === 0) return 'There is no run in this session.';
  const rows = trees.flatMap((tree) => formatTree(tree, '', ''));
  const widths = ([1, 2, 3] as const).map((column) => maxOf([0, ...rows.map((row) => measure(row[column]))]));
  // On a narrow screen the tokens are left out first, then the cost.
  const shown = ([[], [1], [1, 2]] as const).find((hidden) => width - sumWidths(widths, hidden) >= minLabelWidth);
  const columns = widths.map((size, i) => ((shown ?? [1, 2]).some((each) => each === i) ? 0 : size));
  const figuresWidth = sumWidths(columns, []);
  const labelWidth = Math.max(minLabelWidth, width - figuresWidth);
  const widest = Math.min(
    labelWidth,
    rows.reduce((most, [label]) => Math.max(most, measure(label)), 0),
  );
  return rows
    .map(([label, ...figures]) => {
      const cut = cutToWidth(label, widest, measure);
      const padded = cut + ' '.repeat(Math.max(0, widest - measure(cut)));
      const aligned = figures.map((text, i) => {
        const size = columns[i] ?? 0;
        return size === 0 ? '' : `  ${' '.repeat(Math.max(0, size - measure(text)))}${text}`;
      });
      return `${padded}${aligned.join('')}`.trimEnd();
    })
    .join('\n');
}

const sumWidths = (widths: readonly number[], hidden: readonly number[]): number =>
  widths.reduce((sum, size, i) => sum + (size > 0 && !hidden.includes(i) ? size + 2 : 0), 0);

type Row = readonly [label: string, time: string, tokens: string, cost: string];

function formatTree({ span, children }: SpanTree, head: string, tail: string): readonly Row[] {
  const below = children.flatMap((child, i) => {
    const isLast = i === children.length - 1;
    return formatTree(child, `${tail}${isLast ? '└ ' : '├ '}`, `${tail}${isLast ? '  ' : '│ '}`);
  });
  const total = span.kind === 'run' || span.kind === 'workflow' ? sumTreeCost({ span, children }) : getSpanCost(span);
  const tokens =
    total.input + total.output === 0 ? '' : `${formatTokenCount(total.input)} in ${formatTokenCount(total.output)} out`;
  const cost = total.usd === undefined ? '' : formatUsd(total.usd);
  const time = span.end === undefined ? 'not ended' : formatMs(span.end - span.start);
  return [[`${head}${escapeInvisibleLine(`${describeSpan(span)}${formatError(span)}`)}`, time, tokens, cost], ...below];
}

/** A check that failed says so in its verdict. */
const formatError = ({ kind, error }: Span): string => (error === undefined || kind === 'check' ? '' : ` [${error}]`);

const formatUsd = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 4)}`;

function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

function cutToWidth(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let [cut, taken] = ['', 0];
  for (const letter of text) {
    taken += measure(letter);
    if (taken > width - 1) break;
    cut += letter;
  }
  return `${cut}…`;
}
