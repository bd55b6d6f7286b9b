// Finds the parts of a text that it does not assert itself: code, comments, quotations, struck or hidden text, and front matter. Linear time.
import type { TextSpan } from '../types.ts';
import type { NormalText } from './source-text.ts';

/** A line of a text. */
type Line = { readonly start: number; readonly text: string };

/** The parts of a text, ascending by their starts. */
type Parts = readonly TextSpan[];

/** Returns the parts of a text that it only shows: fenced and indented code, front matter, comments, quotations, and the content of tags that strike out, quote or hide. */
export function findQuotedParts(text: string): Parts {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    lines.push({ start, text: line });
    start += line.length + 1;
  }
  const blocks = [...findFrontMatter(lines), ...findFences(lines, text.length), ...findIndentedCode(lines)].toSorted(
    byStart,
  );
  const isCode = createLookup([...blocks, ...findCodeSpans(text)].toSorted(byStart));
  return [
    ...blocks,
    ...findCodeSpans(text),
    ...findBlockQuotes(lines),
    ...findTagged(text, isCode),
    ...findBlockComments(lines, text),
    ...findUnbalanced(text, /["“”„‟«»❝❞]/g, isCode),
    ...findUnbalanced(text, /~~/g, isCode),
    ...findSingleQuotes(text),
    ...findSingleStrikes(text),
    ...findTemplateComments(text),
  ].toSorted(byStart);
}

const knownLookups = new WeakMap<NormalText, (at: number) => boolean>();

/** Whether a place of a source is in a part that the source only shows; the parts are found once. */
export function isInQuotedPart(source: NormalText, at: number): boolean {
  let lookup = knownLookups.get(source);
  if (!lookup) knownLookups.set(source, (lookup = createLookup(findQuotedParts(source.original))));
  return lookup(at);
}

const byStart = (a: TextSpan, b: TextSpan): number => a.start - b.start;

/** Returns a function that says whether a position is inside one of ascending parts: after the start, and before the end. */
function createLookup(parts: Parts): (at: number) => boolean {
  // The largest end of the parts up to each one, so that one comparison is enough.
  let most = 0;
  const ends = parts.map(({ end }) => (most = Math.max(most, end)));
  return (at) => {
    let [low, high] = [0, parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((parts[middle]?.start ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low > 0 && (ends[low - 1] ?? 0) > at;
  };
}

const maxPrefix = 300;

function* findFrontMatter(lines: readonly Line[]): Generator<TextSpan> {
  if (!/^(?:---|\+\+\+)[ \t]*$/.test(lines[0]?.text.slice(0, maxPrefix) ?? '')) return;
  const end = lines.findIndex(({ text }, i) => i > 0 && /^(?:---|\+\+\+|\.\.\.)[ \t]*$/.test(text.slice(0, maxPrefix)));
  if (end > 1 && /^[\w-]{1,40}[ \t]?[:=]/.test(lines[1]?.text ?? '')) yield { start: -1, end: lines[end]?.start ?? 0 };
}

/** Fenced code; a fence without an end goes to the end of the text. */
function* findFences(lines: readonly Line[], end: number): Generator<TextSpan> {
  let open: { readonly start: number; readonly mark: string } | undefined;
  for (const { start, text } of lines) {
    const [, mark, rest = ''] = /^[ \t]{0,40}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?(`{3,}|~{3,})(.*)/.exec(text) ?? [];
    if (mark === undefined) continue;
    if (open) {
      if (!mark.startsWith(open.mark) || rest.trim() !== '') continue;
      yield { start: open.start, end: start + text.length };
      open = undefined;
    } else if (!(mark.startsWith('`') && rest.includes('`'))) open = { start: start - 1, mark };
  }
  if (open) yield { start: open.start, end: end + 1 };
}

const isBlank = (text: string): boolean => text.trim() === '';
const listItem = /^[ \t]{0,20}(?:[-*+•]|\d{1,3}[.)])[ \t]/;

/** Code that is indented by four columns below a paragraph that is no list item. */
function* findIndentedCode(lines: readonly Line[]): Generator<TextSpan> {
  let isInList = false;
  let isAfterBlank = true;
  let isCode = false;
  for (const { start, text } of lines) {
    if (isBlank(text)) {
      isAfterBlank = true;
      continue;
    }
    const isIndented = /^(?: {4}| {0,3}\t)/.test(text);
    if (!isIndented) {
      isInList = listItem.test(text) || (isInList && /^ {1,3}\S/.test(text));
      isCode = false;
    } else if (isAfterBlank || isCode) isCode = !isInList;
    if (isCode) yield { start: start - 1, end: start + text.length };
    isAfterBlank = false;
  }
}

/** Block quotes, with the lines that continue them. */
function* findBlockQuotes(lines: readonly Line[]): Generator<TextSpan> {
  let isQuote = false;
  for (const { start, text } of lines) {
    const mark = /^[ \t]{0,40}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?>/.test(text);
    isQuote = mark ? !/^[ \t>]*$/.test(text) : isQuote && !isBlank(text);
    if (isQuote) yield { start: start - 1, end: start + text.length + 1 };
  }
}

/** Code between backticks in one paragraph. */
function findCodeSpans(text: string): Parts {
  const spans: TextSpan[] = [];
  let open: { readonly at: number; readonly length: number } | undefined;
  for (const { 0: mark, index } of text.matchAll(/`+|\n[ \t]*\n/g)) {
    if (!mark.startsWith('`')) open = undefined;
    else if (!open) open = { at: index, length: mark.length };
    else if (open.length === mark.length) {
      spans.push({ start: open.at, end: index + mark.length });
      open = undefined;
    }
  }
  return spans;
}

const quotingTags = new Set(
  'del s strike q blockquote pre code kbd samp template noscript script style textarea head svg select object iframe'.split(
    ' ',
  ),
);
const voidTags = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
const hiddenAttribute =
  /\shidden(?=[\s=/>])|\saria-hidden\s{0,9}=\s{0,9}["']?true|style\s{0,9}=[^>]{0,400}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i;

/** HTML comments, and the content of tags that strike out, quote or hide; without an end up to the end of the text. */
function* findTagged(text: string, isCode: (at: number) => boolean): Generator<TextSpan> {
  if (!text.includes('<')) return;
  let open: { readonly name: string; readonly start: number; depth: number } | undefined;
  const pattern = /<!--|<(\/?)([a-z][a-z\d]{0,20})(?=[\s/>])([^<>]{0,1000})>/gi;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { index } = match;
    if (isCode(index + 1)) continue;
    if (match[0] === '<!--') {
      const close = text.indexOf('-->', index);
      const end = close < 0 ? text.length + 1 : close + 3;
      yield { start: index - 1, end };
      pattern.lastIndex = end;
      continue;
    }
    const name = match[2]?.toLowerCase() ?? '';
    const isEnd = match[1] === '/';
    if (open) {
      if (name !== open.name) continue;
      open.depth += isEnd ? -1 : 1;
      if (open.depth > 0) continue;
      yield { start: open.start, end: index };
      open = undefined;
    } else if (!isEnd && !voidTags.has(name) && (quotingTags.has(name) || hiddenAttribute.test(match[0])))
      open = { name, start: index - 1, depth: 1 };
  }
  if (open) yield { start: open.start, end: text.length + 1 };
}

/** Comments of code between `/*` at the beginning of a line and their end, and lines that are comments. */
function* findBlockComments(lines: readonly Line[], text: string): Generator<TextSpan> {
  let until = 0;
  for (const line of lines) {
    if (/^[ \t]{0,40}(?:\/\/|\[(?:\/\/|comment)\]:)/.test(line.text))
      yield { start: line.start - 1, end: line.start + line.text.length + 1 };
    if (line.start < until || !/^[ \t]{0,40}\/\*/.test(line.text)) continue;
    const close = text.indexOf('*/', line.start);
    until = close < 0 ? text.length + 1 : close;
    yield { start: line.start - 1, end: until };
  }
}

/** A heading, a blank line, or the marks that are searched. */
const sectionStart = /^[ \t]{0,3}#{1,6}[ \t]/;

/** The parts between marks that open and close, such as quotation marks. In a paragraph with an odd number of them it is not known which is open: everything after its first one up to the end of the section counts. */
function* findUnbalanced(text: string, marks: RegExp, isCode: (at: number) => boolean): Generator<TextSpan> {
  const places = Array.from(text.matchAll(marks), ({ index }) => index).filter((at) => !isCode(at));
  if (places.length === 0) return;
  let next = 0;
  let openSince: number | undefined;
  for (const paragraph of findParagraphs(text)) {
    if (paragraph.isHeading && openSince !== undefined) {
      yield { start: openSince, end: paragraph.start };
      openSince = undefined;
    }
    const own: number[] = [];
    for (; next < places.length && (places[next] ?? 0) < paragraph.end; next++) own.push(places[next] ?? 0);
    if (own.length % 2 === 1) openSince ??= own[0];
    for (let i = 0; i + 1 < own.length; i += 2) yield { start: own[i] ?? 0, end: own[i + 1] ?? 0 };
  }
  if (openSince !== undefined) yield { start: openSince, end: text.length + 1 };
}

function* findParagraphs(text: string): Generator<TextSpan & { readonly isHeading: boolean }> {
  let start = 0;
  for (const { index } of text.matchAll(/\n(?=[ \t]{0,80}\n|[ \t]{0,3}#{1,6}[ \t])/g)) {
    yield { start, end: index + 1, isHeading: sectionStart.test(text.slice(start, start + 12)) };
    start = index + 1;
  }
  yield { start, end: text.length, isHeading: sectionStart.test(text.slice(start, start + 12)) };
}

/** The parts between single quotation marks that open and close; an apostrophe in a word does not close. */
function* findSingleQuotes(text: string): Generator<TextSpan> {
  for (let at = text.indexOf('‘'); at >= 0;) {
    const close = /’(?!\p{L})|\n[ \t]*\n/u.exec(text.slice(at, at + maxSingleQuote));
    const end = close ? at + close.index : Math.min(text.length + 1, at + maxSingleQuote);
    yield { start: at, end };
    at = text.indexOf('‘', Math.max(at + 1, end));
  }
}

const maxSingleQuote = 4000;

/** Text between single tildes, which some dialects of Markdown strike out; a tilde before a number does not open. */
const findSingleStrikes = (text: string): Parts =>
  text.includes('~')
    ? Array.from(
        text.matchAll(/(?<![^\s*_(])~(?=\p{L})([^~]{1,4000})(?<!\s)~(?![~\p{L}\p{N}])/gu),
        ({ 0: whole, index }) => ({ start: index, end: index + whole.length }),
      )
    : [];

/** The marks of comments of template languages. */
const templateComments: readonly (readonly [open: string, close: string])[] = [
  ['{% comment', '{% endcomment'],
  ['{{!--', '--}}'],
  ['{#', '#}'],
  ['<%--', '--%>'],
  ['{/*', '*/}'],
];

function* findTemplateComments(text: string): Generator<TextSpan> {
  for (const [open, close] of templateComments)
    for (let at = text.indexOf(open); at >= 0;) {
      const found = text.indexOf(close, at);
      // Without an end it is no comment of a template, such as an anchor `{#name}`.
      if (found < 0) break;
      yield { start: at - 1, end: found };
      at = text.indexOf(open, found);
    }
}
