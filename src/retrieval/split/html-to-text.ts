// Removes the tags of an HTML page and keeps every line break, so that a passage has the line numbers of the source. Runs in linear time.

/** Elements whose content is not shown to a reader. */
const hiddenElements = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'head',
  'iframe',
  'object',
  'canvas',
]);
/** Inline elements, which do not separate words. */
const inlineElements = new Set(
  'a abbr b bdi bdo cite code del em i ins kbd mark q s samp small span strong sub sup u var wbr'.split(' '),
);
const namedCharacters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  copy: '©',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
};
/** Max characters of a tag name. */
const maxNameChars = 40;

/** The title and the text of a page; headings become Markdown headings. The text has as many lines as the source. */
export function htmlToText(html: string): { readonly title: string; readonly text: string } {
  const parts: string[] = [];
  let title = '';
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      parts.push(decodeCharacters(html.slice(at)));
      break;
    }
    parts.push(decodeCharacters(html.slice(at, open)));
    if (html.startsWith('<!--', open)) {
      at = skipTo(html, '-->', open + 4, parts);
      continue;
    }
    const name = /^\/?([a-z][a-z\d-]*)/i.exec(html.slice(open + 1, open + 2 + maxNameChars))?.[0].toLowerCase();
    if (name === undefined && html[open + 1] !== '!' && html[open + 1] !== '?') {
      parts.push('<');
      at = open + 1;
      continue;
    }
    const end = findTagEnd(html, open + 1);
    const tag = html.slice(open, end);
    at = end;
    if (name !== undefined && hiddenElements.has(name) && !tag.endsWith('/>')) {
      const close = findClosing(html, name, end);
      if (name === 'head') title = decodeCharacters(readTitle(html.slice(end, close))).trim();
      parts.push(keepLineBreaks(html.slice(open, close)));
      at = close;
      continue;
    }
    parts.push(keepLineBreaks(tag) + separatorOf(name ?? ''));
  }
  return { title, text: parts.join('') };
}

function separatorOf(name: string): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) return `${'#'.repeat(Number(level))} `;
  return inlineElements.has(name.replace(/^\//, '')) ? '' : ' ';
}

const readTitle = (head: string): string => {
  const open = /<title\b[^>]{0,200}>/i.exec(head);
  if (!open) return '';
  const rest = head.slice(open.index + open[0].length);
  const close = rest.indexOf('<');
  return close < 0 ? '' : rest.slice(0, Math.min(close, 300));
};

/** The end of a tag; a `>` in a quoted attribute does not end it. A quote without an end is read as a character. */
function findTagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const char = html[at];
    if (char === '>') return at + 1;
    if ((char === '"' || char === "'") && html[at - 1] === '=') {
      const close = html.indexOf(char, at + 1);
      if (close >= 0 && close - at < 10_000) at = close;
    }
  }
  return html.length;
}

/** The position after the closing tag of an element; the end of the page if there is none. */
function findClosing(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}\\b`, 'gi');
  closing.lastIndex = from;
  const match = closing.exec(html);
  return match ? findTagEnd(html, match.index + 2) : html.length;
}

function skipTo(html: string, mark: string, from: number, parts: string[]): number {
  const found = html.indexOf(mark, from);
  const end = found < 0 ? html.length : found + mark.length;
  parts.push(keepLineBreaks(html.slice(from, end)));
  return end;
}

const keepLineBreaks = (text: string): string => (text.includes('\n') ? '\n'.repeat(text.split('\n').length - 1) : '');

const decodeCharacters = (text: string): string =>
  text.includes('&')
    ? text.replaceAll(
        /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{1,10}));/gi,
        (whole, decimal?: string, hex?: string, name?: string) => {
          if (name !== undefined) return namedCharacters[name.toLowerCase()] ?? whole;
          const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
          return code > 31 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' ';
        },
      )
    : text;
