// Converts the visible text of an HTML page to Markdown: headings, lists, quotations and preformatted text keep their meaning; struck and hidden text is left out. Runs in linear time.
import { decodeCharacters, findTagEnd, isHiddenTag, readTitle } from './html-tags.ts';

/** The text of a page as Markdown. */
export type PageText = {
  readonly title: string;
  readonly text: string;
  /** The line of the source of each line of the text, from 1. */
  readonly lines: readonly number[];
};

const names = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Elements whose content is characters up to their end tag. */
const rawElements = names('script style textarea title iframe noembed noframes noscript xmp plaintext');
/** Elements whose content is not shown to a reader, or is struck out. */
const hiddenElements = names(
  'head template svg math object canvas audio video select datalist del s strike dialog noscript',
);
const voidElements = names('area base br col embed hr img input link meta param source track wbr');
/** Inline elements, which do not separate words. */
const inlineElements = names(
  'a abbr acronym b bdi bdo big cite data dfn em font i img ins label mark nobr output rp rt ruby small span strong sub sup time u var wbr',
);
const codeElements = names('code kbd samp tt');
const headElements = names('head base link meta template');
const isInline = (name: string): boolean =>
  inlineElements.has(name) || codeElements.has(name) || /^(?:del|s|strike|q)$/.test(name);

/** Max characters of a tag name. */
const maxNameChars = 40;
/** Quotations in quotations have at most this many marks. */
const maxQuoteMarks = 3;

/** Converts a page; the content of an element without an end goes to the end of the page. */
export function htmlToText(html: string): PageText {
  const writer = createWriter();
  let title = '';
  /** The element whose content is left out, and how many elements of its name are open in it. */
  let hidden: { readonly name: string; depth: number } | undefined;
  let line = 1;
  const skip = (text: string): void => {
    line += countLines(text);
  };
  const write = (text: string): void => {
    if (hidden) skip(text);
    else line = writer.text(decodeCharacters(text), line, countLines(text));
  };
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    write(open < 0 ? html.slice(at) : html.slice(at, open));
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      at = end < 0 ? html.length : end + 3;
      skip(html.slice(open, at));
      continue;
    }
    const tagName = /^\/?([a-z][a-z\d-]*)/i.exec(html.slice(open + 1, open + 2 + maxNameChars))?.[0].toLowerCase();
    if (tagName === undefined && !/^[!?/]/.test(html[open + 1] ?? '')) {
      write('<');
      at = open + 1;
      continue;
    }
    at = findTagEnd(html, open + 1);
    const tag = html.slice(open, at);
    skip(tag);
    if (tagName === undefined) continue;
    const isEnd = tagName.startsWith('/');
    const name = isEnd ? tagName.slice(1) : tagName;
    if (!isEnd && rawElements.has(name)) {
      const end = findClosing(html, name, at);
      if (name === 'title' && title === '') title = readTitle(html.slice(at, end));
      skip(html.slice(at, end));
      at = end;
      continue;
    }
    // The end tag of the head may be left out.
    if (hidden?.name === 'head' && !isEnd && !headElements.has(name)) hidden = undefined;
    if (hidden) {
      if (name === hidden.name) hidden.depth += isEnd ? -1 : 1;
      if (hidden.depth === 0) hidden = undefined;
    } else if (!isEnd && !voidElements.has(name) && (hiddenElements.has(name) || isHiddenTag(tag))) {
      hidden = { name, depth: 1 };
      if (!isInline(name)) writer.tag('div', false, line);
    } else writer.tag(name, isEnd, line);
  }
  return { title, ...writer.end(line) };
}

type Writer = {
  /** Writes text that starts at a line of the source; returns the line after it. */
  text(text: string, line: number, sourceLines: number): number;
  tag(name: string, isEnd: boolean, line: number): void;
  end(line: number): { readonly text: string; readonly lines: readonly number[] };
};

/** Writes the lines of the text. */
function createWriter(): Writer {
  const out: string[] = [];
  const lines: number[] = [];
  const open = { quotes: 0, lists: 0, heading: 0 };
  let current = '';
  let currentLine = 1;
  /** What stands before the text of the line, such as the mark of a list item. */
  let prefix = '';
  let preformatted: { readonly text: string; readonly line: number }[] | undefined;

  const push = (text: string, line: number): void => {
    out.push(`${'> '.repeat(Math.min(open.quotes, maxQuoteMarks))}${text}`.trimEnd());
    lines.push(line);
  };
  const endLine = (): void => {
    const text = current.trim();
    if (text !== '') {
      push(`${prefix}${text}`, currentLine);
      // The next paragraph of a list item is indented.
      prefix = open.lists > 0 ? '  ' : '';
    }
    current = '';
  };
  const endBlock = (line: number): void => {
    endLine();
    if (out.length > 0 && !/^[> ]*$/.test(out.at(-1) ?? '')) push('', line);
  };
  const endPreformatted = (line: number): void => {
    const parts = preformatted ?? [];
    preformatted = undefined;
    const longest = parts.reduce((most, { text }) => Math.max(most, /^\s*(`{3,})/.exec(text)?.[1]?.length ?? 0), 2);
    const fence = '`'.repeat(longest + 1);
    push(fence, parts[0]?.line ?? line);
    for (const part of parts) push(part.text, part.line);
    push(fence, line);
    push('', line);
  };
  const add = (text: string, line: number): void => {
    if (current === '') currentLine = line;
    current += text;
  };

  return {
    text(text, line, sourceLines) {
      const parts = text.split('\n');
      for (const [i, part] of parts.entries()) {
        const at = line + Math.min(i, sourceLines);
        if (preformatted) {
          const last = preformatted.at(-1);
          if (i === 0 && last) preformatted[preformatted.length - 1] = { ...last, text: last.text + part };
          else preformatted.push({ text: part, line: at });
          continue;
        }
        // A line break is white space; it is kept so that the lines of the source are known.
        if (i > 0) {
          if (open.heading > 0) add(' ', at);
          else endLine();
        }
        const words = part.replaceAll(/[ \t\r\f]+/g, ' ');
        if (current !== '' || words.trim() !== '') add(words, at);
      }
      return line + sourceLines;
    },
    tag(name, isEnd, line) {
      if (name === 'pre' || name === 'listing') {
        if (!isEnd && !preformatted) {
          endBlock(line);
          preformatted = [];
        } else if (isEnd && preformatted) endPreformatted(line);
        return;
      }
      if (preformatted || inlineElements.has(name)) return;
      if (codeElements.has(name)) add('`', line);
      else if (name === 'q') add(isEnd ? '”' : '“', line);
      else if (name === 'br') endLine();
      else if (name === 'td' || name === 'th') add(isEnd ? ' ' : ' | ', line);
      else if (name === 'tr') endLine();
      else if (name === 'li') {
        endLine();
        prefix = isEnd ? '' : '- ';
      } else {
        endBlock(line);
        prefix = open.lists > 0 ? prefix : '';
        const level = /^h([1-6])$/.exec(name)?.[1];
        if (level !== undefined) {
          open.heading = isEnd ? 0 : 1;
          prefix = isEnd ? '' : `${'#'.repeat(Number(level))} `;
        } else if (name === 'blockquote') {
          open.quotes = Math.max(0, open.quotes + (isEnd ? -1 : 1));
          // A line without the mark would continue the quotation.
          if (isEnd) push('', line);
        }
        if (name === 'ul' || name === 'ol') open.lists = Math.max(0, open.lists + (isEnd ? -1 : 1));
        if (open.lists === 0 && level === undefined) prefix = '';
      }
    },
    end(line) {
      if (preformatted) endPreformatted(line);
      endLine();
      while (out.length > 0 && out.at(-1) === '') {
        out.pop();
        lines.pop();
      }
      return { text: out.join('\n'), lines };
    },
  };
}

/** The position after the end tag of an element; the end of the page if there is none. */
function findClosing(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}(?![\\w-])`, 'gi');
  closing.lastIndex = from;
  const match = closing.exec(html);
  return match ? findTagEnd(html, match.index + 2) : html.length;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
