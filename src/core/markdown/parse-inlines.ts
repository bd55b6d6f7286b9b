// Parses inline Markdown: code, strong, emphasis, links with visible targets.

/** An inline node. */
export type MarkdownInline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly inlines: readonly MarkdownInline[] }
  /** `target` is shown if the link text differs from it; only http, https and mailto are links. */
  | {
      readonly type: 'link';
      readonly href: string;
      readonly inlines: readonly MarkdownInline[];
      readonly target?: string;
    }
  | { readonly type: 'break' };

const maxInlineDepth = 6;
/** Longer paragraphs are shown as plain text. */
const maxParagraphLength = 20_000;

/** Parses one or more lines. The work is linear in the length: an answer must not freeze the page. */
export function parseInlines(text: string, depth = 0): readonly MarkdownInline[] {
  if (text.length > maxParagraphLength) return [{ type: 'text', text }];
  const scan: InlineScan = { text, depth, codeEnds: findCodeEnds(text), unclosed: new Map(), nextLinkTarget: -1 };
  const inlines: MarkdownInline[] = [];
  let textStart = 0;
  for (let at = 0; at < text.length;) {
    const match = matchInline(scan, at);
    if (match.inline) {
      if (at > textStart) inlines.push({ type: 'text', text: text.slice(textStart, at) });
      inlines.push(match.inline);
      textStart = match.end;
    }
    at = match.end;
  }
  if (textStart < text.length) inlines.push({ type: 'text', text: text.slice(textStart) });
  return inlines;
}

/** What is known of a text while it is parsed. */
type InlineScan = {
  readonly text: string;
  readonly depth: number;
  /** The end of each code span, by the position of its first backtick. */
  readonly codeEnds: ReadonlyMap<number, number>;
  /** Up to which position a pair of marks is known to have no end. */
  readonly unclosed: Map<string, number>;
  /** The position of the next `](`, searched from an earlier position. */
  nextLinkTarget: number;
};

/** The node at a position and where it ends; without a node, the characters up to the end are text. */
type InlineMatch = { readonly inline?: MarkdownInline; readonly end: number };

/** Max characters of the words of a link; the pattern has the same bound. */
const maxLinkWords = 500;
const escapablePattern = /[!-/:-@[-`{-~]/;
const linkPattern =
  /(!?)\[([^\]\n]{0,500})\]\(\s{0,100}<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s{1,100}"[^"\n]{0,500}")?\s{0,100}\)/y;
const bareUrlPattern = /<?(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}*_])>?/y;
const hardBreakPattern = / +(\n?)/y;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

function matchInline(scan: InlineScan, at: number): InlineMatch {
  const { text } = scan;
  switch (text[at] ?? '') {
    case '\\':
      if (text[at + 1] === '\n') return { inline: { type: 'break' }, end: at + 2 };
      return escapablePattern.test(text[at + 1] ?? '')
        ? { inline: { type: 'text', text: text[at + 1] ?? '' }, end: at + 2 }
        : { end: at + 1 };
    case '`':
      return matchCode(scan, at);
    case '!':
    case '[':
      return matchLink(scan, at);
    case '*':
    case '_':
    case '~':
      return matchPair(scan, at) ?? matchEmphasis(scan, at) ?? { end: at + 1 };
    case '<':
    case 'h': {
      const [whole, href] = matchAt(bareUrlPattern, text, at) ?? [];
      if (whole === undefined || href === undefined) return { end: at + 1 };
      return { inline: createLink(href, href, [{ type: 'text', text: href }], whole), end: at + whole.length };
    }
    case ' ': {
      const [whole = ' ', newline] = matchAt(hardBreakPattern, text, at) ?? [];
      if (newline !== '\n') return { end: at + whole.length };
      return whole.length > 2 ? { inline: { type: 'break' }, end: at + whole.length } : { end: at + 1 };
    }
    default:
      return { end: at + 1 };
  }
}

/** Pairs each run of backticks with the next run of the same length: the end of each code span, by its start. */
export function findCodeEnds(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const nextRuns = new Map<number, number>();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].toReversed()) {
    const next = nextRuns.get(run.length);
    if (next !== undefined) ends.set(index, next + run.length);
    nextRuns.set(run.length, index);
  }
  return ends;
}

function matchCode({ text, codeEnds }: InlineScan, at: number): InlineMatch {
  let runEnd = at;
  while (text[runEnd] === '`') runEnd += 1;
  const end = codeEnds.get(at);
  if (end === undefined) return { end: runEnd };
  const code = text.slice(runEnd, end - (runEnd - at)).replaceAll('\n', ' ');
  const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
  return { inline: { type: 'code', text: isPadded ? code.slice(1, -1) : code }, end };
}

function matchLink(scan: InlineScan, at: number): InlineMatch {
  if (!mayStartLink(scan, at)) return { end: at + 1 };
  const [whole, picture, words = '', href = ''] = matchAt(linkPattern, scan.text, at) ?? [];
  if (whole === undefined) return { end: at + 1 };
  // An image would be fetched from another host, so it becomes a link.
  const inlines: readonly MarkdownInline[] = picture ? [{ type: 'text', text: words }] : parseInner(scan, words);
  return { inline: createLink(href, words, inlines, whole), end: at + whole.length };
}

/** Most brackets start no link: the pattern is tried only if the end of the words is near. */
function mayStartLink(scan: InlineScan, at: number): boolean {
  if (scan.nextLinkTarget < at) {
    const next = scan.text.indexOf('](', at);
    scan.nextLinkTarget = next < 0 ? Infinity : next;
  }
  return scan.nextLinkTarget - at <= maxLinkWords + 2;
}

const pairTypes = { '**': 'strong', __: 'strong', '~~': 'struck' } as const;

/** Matches strong or struck text: it ends in the same line, after a character that is not a space. */
function matchPair(scan: InlineScan, at: number): InlineMatch | undefined {
  const { text, unclosed } = scan;
  const pair = text.slice(at, at + 2);
  if (!Object.hasOwn(pairTypes, pair) || isSpace(text[at + 2]) || at < (unclosed.get(pair) ?? 0)) return undefined;
  const lineEnd = endOfLine(text, at);
  let end = text.indexOf(pair, at + 3);
  while (end >= 0 && end < lineEnd && isSpace(text[end - 1])) end = text.indexOf(pair, end + 1);
  if (end < 0 || end >= lineEnd) {
    unclosed.set(pair, lineEnd);
    return undefined;
  }
  const type = pairTypes[pair as keyof typeof pairTypes];
  return { inline: { type, inlines: parseInner(scan, text.slice(at + 2, end)) }, end: end + 2 };
}

/** Matches emphasis: the next mark of the same kind ends it, in the same line. */
function matchEmphasis(scan: InlineScan, at: number): InlineMatch | undefined {
  const { text } = scan;
  const mark = text[at] ?? '';
  const isWordPart = mark === '_' ? /[\w]/ : /[\w*]/;
  if (mark === '~' || isWordPart.test(text[at - 1] ?? '') || isSpace(text[at + 1])) return undefined;
  const end = text.indexOf(mark, at + 1);
  if (end <= at + 1 || isSpace(text[end - 1])) return undefined;
  if ((mark === '_' ? /[\w]/ : /\*/).test(text[end + 1] ?? '')) return undefined;
  const inner = text.slice(at + 1, end);
  return inner.includes('\n')
    ? undefined
    : { inline: { type: 'emphasis', inlines: parseInner(scan, inner) }, end: end + 1 };
}

const isSpace = (character: string | undefined): boolean => character === undefined || /\s/.test(character);

const endOfLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
};

const parseInner = ({ depth }: InlineScan, inner: string): readonly MarkdownInline[] =>
  depth >= maxInlineDepth ? [{ type: 'text', text: inner }] : parseInlines(inner, depth + 1);

function createLink(href: string, words: string, inlines: readonly MarkdownInline[], whole: string): MarkdownInline {
  const url = safeUrl(href);
  if (url === undefined) return { type: 'text', text: whole };
  const shown = words.trim();
  const same = shown === href || shown === url || `https://${shown}` === href || `mailto:${shown}` === href;
  return {
    type: 'link',
    href: url,
    inlines: shown === '' ? [{ type: 'text', text: href }] : inlines,
    ...(same || shown === '' ? {} : { target: url }),
  };
}

/** Returns the normalized URL, so that the shown target is the real one; undefined if the scheme is not allowed. */
export function safeUrl(href: string): string | undefined {
  if (!/^(https?:\/\/|mailto:)/i.test(href) || !URL.canParse(href)) return undefined;
  return new URL(href).href;
}
