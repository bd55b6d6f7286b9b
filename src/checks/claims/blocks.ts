// Parses the Markdown of an answer into blocks whose text keeps its offsets: paragraphs, headings, list items, table rows and code.
import type { TextSpan } from '../types.ts';
import { hasLetterOrDigit } from '../words.ts';

/** A block of an answer. `text` has no line prefixes; `lines` says where the parts of the text stand in the answer. */
export type AnswerBlock = {
  readonly type: 'paragraph' | 'heading' | 'item' | 'header-row' | 'row' | 'code';
  readonly span: TextSpan;
  readonly text: string;
  readonly lines: readonly BlockLine[];
  /** The cells of the header of the table, for a row. */
  readonly header?: readonly string[];
  /** The row without its marks, for a row. */
  readonly cells?: readonly string[];
};

/** From the offset `at` of the text of a block, each character stands at its offset plus `shift` in the answer. */
export type BlockLine = { readonly at: number; readonly shift: number };

type Line = { readonly start: number; readonly end: number; readonly text: string; readonly prefix: number };

const fencePattern = /^ {0,8}(`{3,}|~{3,})/;
const headingPattern = /^ {0,3}(#{1,6})[ \t]+/;
const itemPattern = /^[ \t]{0,40}(?:[-*+•‣◦]|\d{1,9}[.)])[ \t]+/;
const quotePattern = /^[ \t]{0,40}(?:>[ \t]?){1,20}/;

/** Returns the blocks of an answer in order. They do not overlap; what lies between them is white space, marks and rules. */
export function parseBlocks(answer: string): readonly AnswerBlock[] {
  const lines = splitLines(answer);
  const blocks: AnswerBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line) break;
    const content = contentOf(line);
    const fence = fencePattern.exec(content)?.[1];
    if (fence !== undefined) {
      const next = findFenceEnd(lines, at, fence);
      blocks.push(createCodeBlock(answer, lines, at, next));
      at = next;
    } else if (isSkippedLine(content)) at += 1;
    else if (isTableStart(lines, at)) {
      const next = readTable(lines, at, blocks);
      at = next;
    } else if (headingPattern.test(content)) {
      const mark = headingPattern.exec(content)?.[0].length ?? 0;
      blocks.push(createBlock('heading', [cutLine(line, line.prefix + mark)]));
      at += 1;
    } else {
      const isItem = itemPattern.test(content);
      const mark = itemPattern.exec(content)?.[0].length ?? 0;
      const parts = [cutLine(line, line.prefix + mark)];
      at += 1;
      while (at < lines.length && continuesParagraph(lines, at)) {
        const more = lines[at];
        if (more) parts.push(cutLine(more, more.prefix));
        at += 1;
      }
      blocks.push(createBlock(isItem ? 'item' : 'paragraph', parts));
    }
  }
  return blocks.filter(({ text }) => hasLetterOrDigit(text));
}

const contentOf = ({ text, prefix }: Line): string => text.slice(prefix);

function splitLines(answer: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start <= answer.length) {
    const found = answer.indexOf('\n', start);
    const end = found < 0 ? answer.length : found;
    const text = answer.slice(start, end);
    lines.push({ start, end, text, prefix: quotePattern.exec(text)?.[0].length ?? 0 });
    start = end + 1;
  }
  return lines;
}

/** A blank line, a rule, or the underline of a heading. */
const isSkippedLine = (text: string): boolean => !hasLetterOrDigit(text);

const continuesParagraph = (lines: readonly Line[], at: number): boolean => {
  const text = contentOf(lines[at] ?? { start: 0, end: 0, text: '', prefix: 0 });
  return (
    !isSkippedLine(text) &&
    !fencePattern.test(text) &&
    !headingPattern.test(text) &&
    !itemPattern.test(text) &&
    !isTableStart(lines, at)
  );
};

/** Returns the number of the line after the block; a fence without an end reaches to the end of the answer. */
function findFenceEnd(lines: readonly Line[], from: number, fence: string): number {
  const mark = fence[0] ?? '`';
  for (let at = from + 1; at < lines.length; at++) {
    const text = contentOf(lines[at] ?? { start: 0, end: 0, text: '', prefix: 0 }).trim();
    if (text.length >= fence.length && text.replaceAll(mark, '') === '') return at + 1;
  }
  return lines.length;
}

function createCodeBlock(answer: string, lines: readonly Line[], from: number, next: number): AnswerBlock {
  const start = (lines[from]?.start ?? 0) + (lines[from]?.prefix ?? 0);
  const end = lines[next - 1]?.end ?? answer.length;
  return { type: 'code', span: { start, end }, text: answer.slice(start, end), lines: [] };
}

const isSeparator = (text: string): boolean =>
  text.length <= 2000 && text.includes('-') && text.includes('|') && /^[\s|:-]+$/.test(text);

const isTableStart = (lines: readonly Line[], at: number): boolean => {
  const [line, next] = [lines[at], lines[at + 1]];
  return line !== undefined && next !== undefined && line.text.includes('|') && isSeparator(contentOf(next));
};

/** Adds the header and the rows of a table, and returns the number of the line after it. */
function readTable(lines: readonly Line[], from: number, blocks: AnswerBlock[]): number {
  const head = lines[from];
  if (!head) return from + 1;
  const header = splitCells(contentOf(head));
  blocks.push({ ...createBlock('header-row', [cutLine(head, head.prefix)]), cells: header });
  let at = from + 2;
  for (; at < lines.length; at++) {
    const line = lines[at];
    if (!line || !line.text.includes('|') || fencePattern.test(contentOf(line))) break;
    blocks.push({ ...createBlock('row', [cutLine(line, line.prefix)]), header, cells: splitCells(contentOf(line)) });
  }
  return at;
}

const splitCells = (text: string): readonly string[] => {
  const trimmed = text.trim();
  const inner = trimmed.slice(trimmed.startsWith('|') ? 1 : 0, trimmed.endsWith('|') ? -1 : undefined);
  return inner.split('|').map((cell) => cell.trim());
};

type LinePart = { readonly start: number; readonly text: string };

const cutLine = ({ start, text }: Line, prefix: number): LinePart => ({
  start: start + prefix,
  text: text.slice(prefix).trimEnd(),
});

/** Joins lines by a space; the space has the offset of the end of the line before it. */
function createBlock(type: AnswerBlock['type'], parts: readonly LinePart[]): AnswerBlock {
  let text = '';
  const lines: BlockLine[] = [];
  for (const [i, part] of parts.entries()) {
    if (i > 0) text += ' ';
    lines.push({ at: text.length, shift: part.start - text.length });
    text += part.text;
  }
  const start = parts[0]?.start ?? 0;
  return { type, span: { start, end: toAnswerOffset(lines, Math.max(0, text.length - 1)) + 1 }, text, lines };
}

/** Returns the position in the answer of a character of a block. */
export function toAnswerOffset(lines: readonly BlockLine[], at: number): number {
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle]?.at ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return at + (lines[low]?.shift ?? 0);
}
