// Lays blocks out as lines of a given width: what the screen shows of each kind of block.
import { Markdown, truncateToWidth, visibleWidth, wrapTextWithAnsi, type MarkdownTheme } from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { Highlighter } from './highlight.ts';
import type { TextStyler, TextStyles } from './ansi-style.ts';
import type { MarkdownChunk } from './markdown-chunks.ts';
import { formatDiff } from './plain-output.ts';
import { foldToolOutput, CALL_STATUS_LABELS, formatDuration } from './format.ts';
import { formatToolInput, toPlainOutput, type TranscriptBlock } from '../../sessions/index.ts';

const FOLDED_OUTPUT_LINES = 5;
const FOLDED_DIFF_LINES = 24;
const FOLDED_REASONING_LINES = 3;
const INDENT = '  ';

/** What layouts are made with. */
export type LayoutStyle = {
  readonly styles: TextStyles;
  readonly markdown: MarkdownTheme;
  readonly highlight: Highlighter;
  /** Whether everything is shown in full. */
  unfolded: boolean;
};

/** The style for a screen with these brushes. */
export function createLayoutStyle(paint: TextStyles, highlight: Highlighter): LayoutStyle {
  const markdown: MarkdownTheme = {
    heading: paint.cyan,
    link: paint.blue,
    linkUrl: paint.dim,
    code: paint.yellow,
    codeBlock: (text) => text,
    codeBlockBorder: paint.dim,
    quote: paint.dim,
    quoteBorder: paint.dim,
    hr: paint.dim,
    listBullet: paint.cyan,
    bold: paint.bold,
    italic: paint.italic,
    strikethrough: paint.strike,
    underline: paint.underline,
    highlightCode: (code, lang) => [...highlight(code, lang ?? '')],
  };
  return { styles: paint, markdown, highlight, unfolded: false };
}

/** The lines of one piece of Markdown. */
export function renderChunk(piece: MarkdownChunk, width: number, style: LayoutStyle): readonly string[] {
  const text = escapeInvisible(piece.text);
  const space = piece.blankBefore ? [''] : [];
  if (piece.type === 'code') {
    const lines = style.highlight(text.replaceAll('\t', '    '), piece.lang);
    return [...space, ...lines.flatMap((line) => indentLine(line, width))];
  }
  const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: false, renderLatex: false };
  const laid = new Markdown(text, 0, 0, style.markdown, undefined, options).render(width);
  return [...space, ...laid.map((line) => line.trimEnd())];
}

/** The lines of a block that is not streamed Markdown. */
export function renderBlock(
  block: Exclude<TranscriptBlock, { type: 'answer' }>,
  width: number,
  style: LayoutStyle,
): readonly string[] {
  const { styles } = style;
  switch (block.type) {
    case 'said': {
      const how = block.how === 'prompt' ? '' : styles.dim(block.how === 'steer' ? ' (steers)' : ' (follows up)');
      return wrapText(`${escapeInvisible(block.text)}${how}`, width, styles.bold('> '), styles.bold);
    }
    case 'thought':
      return renderReasoning(block, width, style);
    case 'notice': {
      if (block.level === 'info') return wrapText(escapeInvisible(block.text), width, styles.dim('· '), styles.dim);
      const brush = block.level === 'error' ? styles.red : styles.yellow;
      return wrapText(escapeInvisible(block.text), width, brush(block.level === 'error' ? '✗ ' : '! '), brush);
    }
    case 'page': {
      const title = block.title === undefined ? [] : wrapText(escapeInvisible(block.title), width, '', styles.bold);
      const lines = escapeInvisible(block.text).trimEnd().replaceAll('\t', '    ').split('\n');
      return [...title, ...lines.flatMap((line) => wrapHanging(line, width))];
    }
    case 'call':
      return renderCall(block, width, style);
  }
}

function renderCall(block: TranscriptBlock & { type: 'call' }, width: number, style: LayoutStyle): readonly string[] {
  const { styles } = style;
  const { mark, word } = CALL_STATUS_LABELS[block.status];
  const brush =
    { ok: styles.green, running: styles.cyan, waiting: styles.yellow }[block.status as string] ?? styles.red;
  const said = ['ok', 'running'].includes(block.status) ? '' : brush(` ${word}`);
  const time = block.ms === undefined ? '' : styles.dim(` ${formatDuration(block.ms)}`);
  const head = `${brush(mark)} ${styles.bold(escapeInvisible(block.tool))} ${formatToolInput(block.input)}`;
  const tail = `${said}${time}`;
  const lines = style.unfolded
    ? wrapTextWithAnsi(head + tail, width)
    : [truncateToWidth(head, Math.max(10, width - unstyledWidth(tail)), '…') + tail];
  if (block.diff !== undefined) {
    const diff = formatDiff(block.diff, styles).flatMap((line) => indentLine(line, width));
    return [...lines, ...foldLines(diff, FOLDED_DIFF_LINES, style)];
  }
  const output = block.output ?? '';
  if (output.trim() === '') return lines;
  const shown = style.unfolded
    ? { lines: toPlainOutput(output.trimEnd()).split('\n'), left: 0 }
    : foldToolOutput(output, FOLDED_OUTPUT_LINES);
  const more = shown.left === 0 ? [] : [moreLine(shown.left, style)];
  const body = shown.lines.map((line) =>
    style.unfolded ? indentLine(line, width, styles.dim) : [INDENT + styles.dim(truncateToWidth(line, width - 2, '…'))],
  );
  return [...lines, ...more, ...body.flat()];
}

// While it streams, a thought shows its last lines, and only those are looked at.
function renderReasoning(
  block: TranscriptBlock & { type: 'thought' },
  width: number,
  style: LayoutStyle,
): readonly string[] {
  const growing = !block.settled && !style.unfolded;
  const text = growing ? block.text.slice(-width * (FOLDED_REASONING_LINES + 1)) : block.text;
  const brush: TextStyler = (part) => style.styles.dim(style.styles.italic(part));
  const lines = wrapText(escapeInvisible(text.trim()), width, INDENT, brush);
  return growing ? lines.slice(-FOLDED_REASONING_LINES) : foldLines(lines, FOLDED_REASONING_LINES, style);
}

function unstyledWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\x1b\[\d+m/g, '').length;
}

function moreLine(left: number, { styles }: LayoutStyle): string {
  return INDENT + styles.dim(`… ${left} more line${left === 1 ? '' : 's'} (Ctrl+O)`);
}

function foldLines(lines: readonly string[], most: number, style: LayoutStyle): readonly string[] {
  if (style.unfolded || lines.length <= most + 1) return lines;
  return [...lines.slice(0, most), moreLine(lines.length - most, style)];
}

function indentLine(line: string, width: number, brush: TextStyler = (text) => text): readonly string[] {
  if (line === '') return [''];
  return wrapTextWithAnsi(line, Math.max(1, width - INDENT.length)).map((part) => INDENT + brush(part));
}

/** A line of a page, wrapped; where it has columns, the rest of the last one stays under its beginning. */
function wrapHanging(line: string, width: number): readonly string[] {
  const column = /^.*?\S {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const plain = visibleWidth(column) === column.length;
  if (!plain || column.length > width / 2) return wrapTextWithAnsi(line, width);
  return wrapText(line.slice(column.length), width, column, (text) => text);
}

/** Text wrapped to a width, its first line after a mark and the others under it. */
export function wrapText(text: string, width: number, mark: string, brush: TextStyler): readonly string[] {
  const room = Math.max(1, width - unstyledWidth(mark));
  const under = ' '.repeat(unstyledWidth(mark));
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => wrapTextWithAnsi(line, room))
    .map((line, index) => (index === 0 ? mark : under) + brush(line));
}
