// Lays blocks out as lines of a given width: what the screen shows of each kind of block.
import { Markdown, truncateToWidth, visibleWidth, wrapTextWithAnsi, type MarkdownTheme } from '@earendil-works/pi-tui';
import { escapeInvisible } from '../../core/index.ts';
import type { Block } from './face.ts';
import type { Highlighter } from './highlight.ts';
import type { Brush, Paint } from './paint.ts';
import type { Piece } from './pieces.ts';
import { diffLines } from './plain-voice.ts';
import { foldOutput, inputLine, plainOutput, STANDINGS, took } from './wording.ts';

const FOLDED_OUTPUT = 5;
const FOLDED_DIFF = 24;
const FOLDED_THOUGHT = 3;
const INDENT = '  ';

/** What layouts are made with. */
export type Style = {
  readonly paint: Paint;
  readonly markdown: MarkdownTheme;
  readonly highlight: Highlighter;
  /** Whether everything is shown in full. */
  unfolded: boolean;
};

/** The style for a screen with these brushes. */
export function styleOf(paint: Paint, highlight: Highlighter): Style {
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
  return { paint, markdown, highlight, unfolded: false };
}

/** The lines of one piece of Markdown. */
export function pieceLines(piece: Piece, width: number, style: Style): readonly string[] {
  const text = escapeInvisible(piece.text);
  const space = piece.apart ? [''] : [];
  if (piece.type === 'code') {
    const lines = style.highlight(text.replaceAll('\t', '    '), piece.lang);
    return [...space, ...lines.flatMap((line) => indented(line, width))];
  }
  const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: false, renderLatex: false };
  const laid = new Markdown(text, 0, 0, style.markdown, undefined, options).render(width);
  return [...space, ...laid.map((line) => line.trimEnd())];
}

/** The lines of a block that is not streamed Markdown. */
export function blockLines(block: Exclude<Block, { type: 'answer' }>, width: number, style: Style): readonly string[] {
  const { paint } = style;
  switch (block.type) {
    case 'said': {
      const how = block.how === 'prompt' ? '' : paint.dim(block.how === 'steer' ? ' (steers)' : ' (follows up)');
      return wrapped(`${escapeInvisible(block.text)}${how}`, width, paint.bold('> '), paint.bold);
    }
    case 'thought':
      return thoughtLines(block, width, style);
    case 'notice': {
      if (block.level === 'info') return wrapped(escapeInvisible(block.text), width, paint.dim('· '), paint.dim);
      const brush = block.level === 'error' ? paint.red : paint.yellow;
      return wrapped(escapeInvisible(block.text), width, brush(block.level === 'error' ? '✗ ' : '! '), brush);
    }
    case 'page': {
      const title = block.title === undefined ? [] : wrapped(escapeInvisible(block.title), width, '', paint.bold);
      const lines = escapeInvisible(block.text).trimEnd().replaceAll('\t', '    ').split('\n');
      return [...title, ...lines.flatMap((line) => hanging(line, width))];
    }
    case 'call':
      return callLines(block, width, style);
  }
}

function callLines(block: Block & { type: 'call' }, width: number, style: Style): readonly string[] {
  const { paint } = style;
  const { mark, word } = STANDINGS[block.standing];
  const brush = { ok: paint.green, running: paint.cyan, waiting: paint.yellow }[block.standing as string] ?? paint.red;
  const said = ['ok', 'running'].includes(block.standing) ? '' : brush(` ${word}`);
  const time = block.ms === undefined ? '' : paint.dim(` ${took(block.ms)}`);
  const head = `${brush(mark)} ${paint.bold(escapeInvisible(block.tool))} ${inputLine(block.input)}`;
  const tail = `${said}${time}`;
  const lines = style.unfolded
    ? wrapTextWithAnsi(head + tail, width)
    : [truncateToWidth(head, Math.max(10, width - plainWidth(tail)), '…') + tail];
  if (block.diff !== undefined) {
    const diff = diffLines(block.diff, paint).flatMap((line) => indented(line, width));
    return [...lines, ...folded(diff, FOLDED_DIFF, style)];
  }
  const output = block.output ?? '';
  if (output.trim() === '') return lines;
  const shown = style.unfolded
    ? { lines: plainOutput(output.trimEnd()).split('\n'), left: 0 }
    : foldOutput(output, FOLDED_OUTPUT);
  const more = shown.left === 0 ? [] : [moreLine(shown.left, style)];
  const body = shown.lines.map((line) =>
    style.unfolded ? indented(line, width, paint.dim) : [INDENT + paint.dim(truncateToWidth(line, width - 2, '…'))],
  );
  return [...lines, ...more, ...body.flat()];
}

// While it streams, a thought shows its last lines, and only those are looked at.
function thoughtLines(block: Block & { type: 'thought' }, width: number, style: Style): readonly string[] {
  const growing = !block.settled && !style.unfolded;
  const text = growing ? block.text.slice(-width * (FOLDED_THOUGHT + 1)) : block.text;
  const brush: Brush = (part) => style.paint.dim(style.paint.italic(part));
  const lines = wrapped(escapeInvisible(text.trim()), width, INDENT, brush);
  return growing ? lines.slice(-FOLDED_THOUGHT) : folded(lines, FOLDED_THOUGHT, style);
}

function plainWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\x1b\[\d+m/g, '').length;
}

function moreLine(left: number, { paint }: Style): string {
  return INDENT + paint.dim(`… ${left} more line${left === 1 ? '' : 's'} (Ctrl+O)`);
}

function folded(lines: readonly string[], most: number, style: Style): readonly string[] {
  if (style.unfolded || lines.length <= most + 1) return lines;
  return [...lines.slice(0, most), moreLine(lines.length - most, style)];
}

function indented(line: string, width: number, brush: Brush = (text) => text): readonly string[] {
  if (line === '') return [''];
  return wrapTextWithAnsi(line, Math.max(1, width - INDENT.length)).map((part) => INDENT + brush(part));
}

/** A line of a page, wrapped; where it has columns, the rest of the last one stays under its beginning. */
function hanging(line: string, width: number): readonly string[] {
  const column = /^.*?\S {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const plain = visibleWidth(column) === column.length;
  if (!plain || column.length > width / 2) return wrapTextWithAnsi(line, width);
  return wrapped(line.slice(column.length), width, column, (text) => text);
}

/** Text wrapped to a width, its first line after a mark and the others under it. */
export function wrapped(text: string, width: number, mark: string, brush: Brush): readonly string[] {
  const room = Math.max(1, width - plainWidth(mark));
  const under = ' '.repeat(plainWidth(mark));
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => wrapTextWithAnsi(line, room))
    .map((line, index) => (index === 0 ? mark : under) + brush(line));
}
