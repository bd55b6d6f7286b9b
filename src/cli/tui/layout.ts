// Lays out transcript blocks as lines of a given width.
import {
  Markdown,
  setCapabilityOverrides,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
  type MarkdownTheme,
} from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import { findCodeEnds } from '../../core/markdown/index.ts';
import type { Highlighter } from './highlight.ts';
import type { TextStyler, TextStyles } from './ansi-style.ts';
import type { MarkdownChunk } from './markdown-chunks.ts';
import { formatDiff, PREVIEW_DIFF_LINE, previewLineStyle } from './plain-output.ts';
import { foldToolOutput, CALL_STATUS_LABELS, formatDuration } from './format.ts';
import { formatCallTitle, toPlainOutput, type TranscriptBlock } from '../../sessions/index.ts';

const FOLDED_OUTPUT_LINES = 5;
const FOLDED_DIFF_LINES = 24;
const FOLDED_REASONING_LINES = 3;
const INDENT = '  ';

/** The styles and settings of a layout. */
export type LayoutStyle = {
  readonly styles: TextStyles;
  readonly markdown: MarkdownTheme;
  readonly highlight: Highlighter;
  /** Whether every block is shown in full. */
  unfolded: boolean;
  /** Whether reasoning is left out. */
  hidesReasoning: boolean;
};

/** Creates the layout style of a screen with these text styles. */
export function createLayoutStyle(styles: TextStyles, highlight: Highlighter): LayoutStyle {
  const markdown: MarkdownTheme = {
    heading: styles.cyan,
    link: styles.blue,
    linkUrl: styles.dim,
    code: styles.yellow,
    codeBlock: (text) => text,
    codeBlockBorder: styles.dim,
    quote: styles.dim,
    quoteBorder: styles.dim,
    hr: styles.dim,
    listBullet: styles.cyan,
    bold: styles.bold,
    italic: styles.italic,
    strikethrough: styles.strike,
    underline: styles.underline,
    highlightCode: (code, lang) => [...highlight(code, lang ?? '')],
  };
  // A hyperlink of the terminal would hide its address behind the words of the model.
  setCapabilityOverrides({ hyperlinks: false, images: null });
  return { styles, markdown, highlight, unfolded: false, hidesReasoning: false };
}

/** Returns the lines of one chunk of Markdown. */
export function renderChunk(chunk: MarkdownChunk, width: number, style: LayoutStyle): readonly string[] {
  const text = escapeInvisible(chunk.text);
  const space = chunk.blankBefore ? [''] : [];
  if (chunk.type === 'code') {
    const lines = style.highlight(text.replaceAll('\t', '    '), chunk.lang);
    return [...space, ...lines.flatMap((line) => indentLine(line, width))];
  }
  const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: false, renderLatex: false };
  const rendered = new Markdown(showImageTargets(text), 0, 0, style.markdown, undefined, options).render(width);
  return [...space, ...rendered.map((line) => line.trimEnd())];
}

/** Turns images into links, whose address is shown. Code spans stay as they are. */
export function showImageTargets(text: string): string {
  if (!text.includes('![')) return text;
  const codeEnds = findCodeEnds(text);
  let shown = '';
  for (let at = 0; at < text.length;) {
    const codeEnd = text[at] === '`' ? (codeEnds.get(at) ?? at + 1) : undefined;
    const next = codeEnd ?? (text[at] === '\\' ? at + 2 : at + 1);
    if (text[at] !== '!' || text[at + 1] !== '[') shown += text.slice(at, next);
    at = next;
  }
  return shown;
}

/** Returns the lines of a block that is not streamed Markdown. */
export function renderBlock(
  block: Exclude<TranscriptBlock, { type: 'assistant' }>,
  width: number,
  style: LayoutStyle,
): readonly string[] {
  const { styles } = style;
  switch (block.type) {
    case 'user': {
      const how = block.how === 'prompt' ? '' : styles.dim(block.how === 'steer' ? ' (steering)' : ' (follow-up)');
      return wrapText(`${escapeInvisible(block.text)}${how}`, width, styles.bold('> '), styles.bold);
    }
    case 'reasoning':
      return style.hidesReasoning ? [] : renderReasoning(block, width, style);
    case 'notice': {
      if (block.level === 'info') return wrapText(escapeInvisible(block.text), width, styles.dim('· '), styles.dim);
      const styler = block.level === 'error' ? styles.red : styles.yellow;
      return wrapText(escapeInvisible(block.text), width, styler(block.level === 'error' ? '✗ ' : '! '), styler);
    }
    case 'output': {
      const title = block.title === undefined ? [] : wrapText(escapeInvisible(block.title), width, '', styles.bold);
      const lines = escapeInvisible(block.text).trimEnd().replaceAll('\t', '    ').split('\n');
      return [
        ...title,
        ...lines.flatMap((line) => (block.isPreview ? wrapPreviewLine(line, width, styles) : wrapHanging(line, width))),
      ];
    }
    case 'call':
      return renderCall(block, width, style);
  }
}

function renderCall(block: TranscriptBlock & { type: 'call' }, width: number, style: LayoutStyle): readonly string[] {
  const { styles } = style;
  const { mark, word } = CALL_STATUS_LABELS[block.status];
  const styler =
    { ok: styles.green, running: styles.cyan, waiting: styles.yellow }[block.status as string] ?? styles.red;
  const label = ['ok', 'running'].includes(block.status) ? '' : styler(` ${word}`);
  const time = block.ms === undefined ? '' : styles.dim(` ${formatDuration(block.ms)}`);
  const { tool, input } = formatCallTitle(block.tool, block.input);
  const head = `${styler(mark)} ${styles.bold(tool)} ${input}`;
  const approval = block.approval === undefined ? '' : styles.dim(` · ${block.approval}`);
  const tail = `${label}${approval}${time}`;
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

// Streaming reasoning shows its last lines, and only those are laid out.
function renderReasoning(
  block: TranscriptBlock & { type: 'reasoning' },
  width: number,
  style: LayoutStyle,
): readonly string[] {
  const growing = !block.settled && !style.unfolded;
  const text = growing ? block.text.slice(-width * (FOLDED_REASONING_LINES + 1)) : block.text;
  const styler: TextStyler = (part) => style.styles.dim(style.styles.italic(part));
  const lines = wrapText(escapeInvisible(text.trim()), width, INDENT, styler);
  return growing ? lines.slice(-FOLDED_REASONING_LINES) : foldLines(lines, FOLDED_REASONING_LINES, style);
}

function unstyledWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\x1b\[[\d;]+m/g, '').length;
}

function moreLine(left: number, { styles }: LayoutStyle): string {
  return INDENT + styles.dim(`… ${left} more line${left === 1 ? '' : 's'} (Ctrl+O)`);
}

function foldLines(lines: readonly string[], max: number, style: LayoutStyle): readonly string[] {
  if (style.unfolded || lines.length <= max + 1) return lines;
  return [...lines.slice(0, max), moreLine(lines.length - max, style)];
}

function indentLine(line: string, width: number, styler: TextStyler = (text) => text): readonly string[] {
  if (line === '') return [''];
  return wrapTextWithAnsi(line, Math.max(1, width - INDENT.length)).map((part) => INDENT + styler(part));
}

/** Wraps a line of command output; if the line has columns, the text of the last column is indented to its start. */
function wrapHanging(line: string, width: number): readonly string[] {
  const column = /^.*?\S {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const plain = visibleWidth(column) === column.length;
  if (!plain || column.length > width / 2) return wrapTextWithAnsi(line, width);
  return wrapText(line.slice(column.length), width, column, (text) => text);
}

/** Wraps a line of a preview; the text of a file stays behind its line number. */
function wrapPreviewLine(line: string, width: number, styles: TextStyles): readonly string[] {
  const styler = previewLineStyle(line, styles);
  const [, number, sign = '', text = ''] = PREVIEW_DIFF_LINE.exec(line) ?? [];
  const column = /^(?:.*?\S)? {2,}(?=\S)/.exec(line)?.[0] ?? '';
  if (number !== undefined) return wrapText(text, width - 2, `  ${styles.dim(number)}${styler(sign)}`, styler);
  if (column.length > 0 && column.length < width / 2)
    return wrapText(line.slice(column.length), width - 2, `  ${styles.dim(column)}`, styler);
  return wrapText(line, width - 2, INDENT, styler);
}

/** Wraps text to a width; the first line starts with the mark, the others are indented to it. */
export function wrapText(text: string, width: number, mark: string, styler: TextStyler): readonly string[] {
  const available = Math.max(1, width - unstyledWidth(mark));
  const indent = ' '.repeat(unstyledWidth(mark));
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => wrapTextWithAnsi(line, available))
    .map((line, index) => (index === 0 ? mark : indent) + styler(line));
}
