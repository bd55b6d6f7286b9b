// Reads tags, titles and character references of HTML.

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
  laquo: '«',
  raquo: '»',
  bdquo: '„',
};

/** Decodes the character references of a text. */
export const decodeCharacters = (text: string): string =>
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

const maxTitleChars = 300;

/** The title of a page from the content of its element. */
export const readTitle = (content: string): string =>
  decodeCharacters(content.split('<', 1)[0]?.slice(0, maxTitleChars) ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The end of a tag; a `>` in a quoted attribute does not end it. A quote without an end is read as a character. */
export function findTagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const char = html[at];
    if (char === '>') return at + 1;
    if ((char === '"' || char === "'") && /[=\s]/.test(html[at - 1] ?? '')) {
      const close = html.indexOf(char, at + 1);
      if (close >= 0 && close - at < maxAttributeChars) at = close;
    }
  }
  return html.length;
}

const maxAttributeChars = 10_000;

const hiddenStyle =
  /(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0(?![.\d]))/i;

/** Whether a start tag says that its element is not shown: by `hidden`, `aria-hidden`, or its style. */
export function isHiddenTag(tag: string): boolean {
  if (!/hidden|style/i.test(tag)) return false;
  for (const [, name = '', double, single, bare] of tag.matchAll(
    /[\s/]([a-z-]{1,40})(?=[\s=/>])(?:\s{0,20}=\s{0,20}(?:"([^"]{0,10000})"|'([^']{0,10000})'|([^\s"'>]{1,10000})))?/gi,
  )) {
    const value = double ?? single ?? bare ?? '';
    const attribute = name.toLowerCase();
    if (attribute === 'hidden') return true;
    if (attribute === 'aria-hidden' && /^\s*true\s*$/i.test(value)) return true;
    if (attribute === 'style' && hiddenStyle.test(value)) return true;
  }
  return false;
}
