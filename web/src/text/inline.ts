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
/** Longer paragraphs are shown as plain text, because parsing them could be slow. */
const maxParagraphLength = 20_000;

/** The inline patterns, tried in this order; anything else is text. */
const inlinePattern =
  /\\([!-/:-@[-`{-~])|(`+)(?!`)([^]{0,5000}?[^`])\2(?!`)|(!?)\[([^\]\n]{0,500})\]\(\s*<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s+"[^"\n]{0,500}")?\s*\)|(\*\*|__|~~)(?=\S)([^\n]{1,5000}?\S|\S)\7|(?<![\w*])\*(?=[^\s*])([^*\n]{0,5000}?[^\s*])\*(?!\*)|(?<![\w_])_(?=[^\s_])([^_\n]{0,5000}?[^\s_])_(?![\w_])|<?(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}*_])>?|( {2,}|\\)\n/g;

/** Parses one or more lines. */
export function parseInlines(text: string, depth = 0): readonly MarkdownInline[] {
  if (text.length > maxParagraphLength) return [{ type: 'text', text }];
  const found: MarkdownInline[] = [];
  let at = 0;
  for (const match of text.matchAll(inlinePattern)) {
    if (match.index > at) found.push({ type: 'text', text: text.slice(at, match.index) });
    found.push(...parseInlineMatch(match, depth));
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ type: 'text', text: text.slice(at) });
  return found;
}

function parseInlineMatch(match: RegExpExecArray, depth: number): readonly MarkdownInline[] {
  const [whole, escaped, , code, picture, words, href, pair, strong, star, underline, bare] = match;
  const within = (inner: string): readonly MarkdownInline[] =>
    depth >= maxInlineDepth ? [{ type: 'text', text: inner }] : parseInlines(inner, depth + 1);
  if (escaped !== undefined) return [{ type: 'text', text: escaped }];
  if (code !== undefined) return [{ type: 'code', text: code.replace(/^ ([^]*\S[^]*) $/, '$1').replaceAll('\n', ' ') }];
  // An image would be fetched from another host, so it becomes a link.
  if (href !== undefined)
    return [
      createLink(href, words ?? '', picture ? [{ type: 'text', text: words ?? '' }] : within(words ?? ''), whole),
    ];
  if (strong !== undefined) return [{ type: pair === '~~' ? 'struck' : 'strong', inlines: within(strong) }];
  const emphasis = star ?? underline;
  if (emphasis !== undefined) return [{ type: 'emphasis', inlines: within(emphasis) }];
  if (bare !== undefined) return [createLink(bare, bare, [{ type: 'text', text: bare }], whole)];
  return [{ type: 'break' }];
}

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
