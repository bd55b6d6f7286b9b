// Parses Markdown into plain data; HTML is never parsed, so a text cannot inject markup.
import { parseInlines, type MarkdownInline } from './parse-inlines.ts';

/** A block node. */
export type MarkdownBlock =
  | { readonly type: 'paragraph'; readonly inlines: readonly MarkdownInline[] }
  | { readonly type: 'heading'; readonly level: number; readonly inlines: readonly MarkdownInline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | { readonly type: 'list'; readonly start?: number; readonly items: readonly (readonly MarkdownBlock[])[] }
  | {
      readonly type: 'table';
      readonly head: readonly (readonly MarkdownInline[])[];
      readonly rows: readonly (readonly (readonly MarkdownInline[])[])[];
    }
  | { readonly type: 'rule' };

/** Deeper nested lists and quotes are parsed as text: a hostile text must not overflow the stack. */
const maxBlockDepth = 8;

/** Parses the blocks of a text. An open fence, as in a streaming answer, is code to the end. */
export const parseMarkdown = (text: string): readonly MarkdownBlock[] =>
  parseBlocks(text.replaceAll('\r\n', '\n').split('\n'), 0);

/** The info string names the language; if it contains backticks, the line is inline code, not a fence. */
const fencePattern = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/;
const headingPattern = /^ {0,3}(#{1,6})\s(.*)$/;
const thematicBreakPattern = /^ {0,3}([-*_])\s*(?:\1\s*){2,}$/;
const quotePattern = /^ {0,3}> ?/;
const listItemPattern = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const tableDividerPattern = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

function parseBlocks(lines: readonly string[], depth: number): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') at += 1;
    else {
      const found = parseSpecialBlock(lines, at, depth) ?? parseParagraph(lines, at, depth);
      blocks.push(found.block);
      at = found.next;
    }
  }
  return blocks;
}

type ParsedBlock = { readonly block: MarkdownBlock; readonly next: number };

function parseSpecialBlock(lines: readonly string[], at: number, depth: number): ParsedBlock | undefined {
  const line = lines[at] ?? '';
  const title = headingPattern.exec(line);
  if (fencePattern.test(line)) return parseCode(lines, at);
  if (title)
    return {
      block: {
        type: 'heading',
        level: title[1]?.length ?? 1,
        inlines: parseInlines(removeClosingMarks(title[2] ?? '')),
      },
      next: at + 1,
    };
  if (thematicBreakPattern.test(line)) return { block: { type: 'rule' }, next: at + 1 };
  if (isTable(lines, at)) return parseTable(lines, at);
  if (depth >= maxBlockDepth) return undefined;
  if (quotePattern.test(line)) return parseQuote(lines, at, depth);
  return listItemPattern.test(line) ? parseList(lines, at, depth) : undefined;
}

/** A heading may end with more `#`, after a space. */
function removeClosingMarks(title: string): string {
  const words = title.trim();
  let end = words.length;
  while (words[end - 1] === '#') end -= 1;
  return end === 0 || /\s/.test(words[end - 1] ?? '') ? words.slice(0, end).trimEnd() : words;
}

/** Whether a paragraph ends before this line. */
function endsParagraph(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? '';
  if (line.trim() === '' || fencePattern.test(line) || headingPattern.test(line) || thematicBreakPattern.test(line))
    return true;
  return isTable(lines, at) || (depth < maxBlockDepth && (quotePattern.test(line) || listItemPattern.test(line)));
}

const isTable = (lines: readonly string[], at: number): boolean =>
  (lines[at] ?? '').includes('|') &&
  (lines[at + 1] ?? '').includes('-') &&
  tableDividerPattern.test(lines[at + 1] ?? '');

function parseCode(lines: readonly string[], at: number): ParsedBlock {
  const [, marks = '', language = ''] = fencePattern.exec(lines[at] ?? '') ?? [];
  const closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end] ?? '')) end += 1;
  return { block: { type: 'code', language, text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
}

function parseQuote(lines: readonly string[], at: number, depth: number): ParsedBlock {
  let next = at;
  while (next < lines.length && quotePattern.test(lines[next] ?? '')) next += 1;
  const inside = lines.slice(at, next).map((line) => line.replace(quotePattern, ''));
  return { block: { type: 'quote', blocks: parseBlocks(inside, depth + 1) }, next };
}

/** Parses list items: an item continues while its lines are empty or indented to its text. */
function parseList(lines: readonly string[], at: number, depth: number): ParsedBlock {
  const first = listItemPattern.exec(lines[at] ?? '')?.[2] ?? '-';
  const isSame = (mark: string): boolean => /\d/.test(mark) === /\d/.test(first);
  const items: (readonly MarkdownBlock[])[] = [];
  let next = at;
  while (next < lines.length) {
    const found = listItemPattern.exec(lines[next] ?? '');
    if (!found || thematicBreakPattern.test(lines[next] ?? '') || !isSame(found[2] ?? '')) break;
    const indent = found[0].length;
    const inside = [(lines[next] ?? '').slice(indent)];
    for (next += 1; next < lines.length && isListItemLine(lines, next, indent); next += 1)
      inside.push((lines[next] ?? '').slice(Math.min(indent, getIndent(lines[next] ?? ''))));
    items.push(parseBlocks(inside, depth + 1));
  }
  const start = /^\d/.test(first) ? Number.parseInt(first, 10) : undefined;
  return { block: { type: 'list', ...(start === undefined ? {} : { start }), items }, next };
}

function isListItemLine(lines: readonly string[], at: number, indent: number): boolean {
  const line = lines[at] ?? '';
  if (line.trim() === '')
    return getIndent(lines[at + 1] ?? '') >= Math.min(indent, 2) && (lines[at + 1] ?? '').trim() !== '';
  if (getIndent(line) >= Math.min(indent, 2)) return true;
  return (lines[at - 1] ?? '').trim() !== '' && !listItemPattern.test(line) && !interruptsParagraph(line);
}

const getIndent = (line: string): number => line.length - line.trimStart().length;

const interruptsParagraph = (line: string): boolean =>
  fencePattern.test(line) || headingPattern.test(line) || thematicBreakPattern.test(line) || quotePattern.test(line);

function parseTable(lines: readonly string[], at: number): ParsedBlock {
  let next = at + 2;
  while (next < lines.length && (lines[next] ?? '').includes('|')) next += 1;
  const rows = [at, ...Array.from({ length: next - at - 2 }, (_, i) => at + 2 + i)].map((i) =>
    parseTableRow(lines[i] ?? ''),
  );
  const [head = [], ...body] = rows;
  return { block: { type: 'table', head, rows: body }, next };
}

const parseTableRow = (line: string): readonly (readonly MarkdownInline[])[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => parseInlines(cell.trim().replaceAll('\\|', '|')));

function parseParagraph(lines: readonly string[], at: number, depth: number): ParsedBlock {
  let next = at + 1;
  while (next < lines.length && !endsParagraph(lines, next, depth)) next += 1;
  const words = lines
    .slice(at, next)
    .map((line) => line.trim())
    .join('\n');
  return { block: { type: 'paragraph', inlines: parseInlines(words) }, next };
}
