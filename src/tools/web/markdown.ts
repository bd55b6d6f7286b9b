// Converts part of a page to Markdown: headings, lists, links, code, quotes and tables.
import { trimEndChars } from '../../core/index.ts';

/** The members of an element that are needed here. */
export type PageNode = {
  readonly nodeType: number;
  readonly localName?: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
  getAttribute?(name: string): string | null;
};

/** A piece of text: a block, or inline text. */
type TextPiece = { readonly block: boolean; readonly text: string };

const skippedElements = new Set(
  'script style noscript template svg math title iframe object embed canvas audio video head button select input textarea form dialog'.split(
    ' ',
  ),
);
const blockElements = new Set(
  'address article aside body details div dd dl dt fieldset figcaption figure footer header html main nav p section summary'.split(
    ' ',
  ),
);
const maxDepth = 200;

/** Returns the Markdown of an element. Links are resolved against the URL of the page. */
export function toMarkdown(node: PageNode, base: string): string {
  return joinPieces(piecesIn(node, 0)).trim();

  function piecesIn(parent: PageNode, depth: number): readonly TextPiece[] {
    return [...parent.childNodes].flatMap((child) => pieces(child, depth + 1));
  }

  function pieces(child: PageNode, depth: number): readonly TextPiece[] {
    if (child.nodeType === 3) return [{ block: false, text: (child.textContent ?? '').replaceAll(/\s+/g, ' ') }];
    const name = elementName(child);
    if (child.nodeType !== 1 || skippedElements.has(name)) return [];
    if (depth > maxDepth) return [{ block: false, text: flatText(child) }];
    const inside = (): string => joinPieces(piecesIn(child, depth)).trim();
    const block = (text: string): readonly TextPiece[] => (text === '' ? [] : [{ block: true, text }]);
    if (name === 'br') return [{ block: false, text: '\n' }];
    if (name === 'hr') return block('---');
    if (name === 'pre') return block(codeFence(child.textContent ?? ''));
    if (/^h[1-6]$/.test(name)) return headingPieces(Number(name[1]), inside().replaceAll('\n', ' '));
    if (name === 'ul' || name === 'ol') return block(list(child, depth, name === 'ol'));
    if (name === 'blockquote') return block(prefixLines('> ', inside()));
    if (name === 'table') return block(formatTable(child));
    if (blockElements.has(name) || name === 'li') return block(inside());
    return [{ block: false, text: inline(child, name, () => joinPieces(piecesIn(child, depth))) }];
  }

  function inline(child: PageNode, name: string, inside: () => string): string {
    if (name === 'code' || name === 'kbd' || name === 'samp') return `\`${flatText(child)}\``;
    if (name === 'img') return formatImage(child);
    const text = inside();
    if (name === 'a') return formatLink(text, child.getAttribute?.('href') ?? '', base);
    if ((name === 'strong' || name === 'b') && text.trim() !== '') return `**${text.trim()}**`;
    return text;
  }

  function list(parent: PageNode, depth: number, numbered: boolean): string {
    const items = [...parent.childNodes].filter((child) => elementName(child) === 'li');
    return items
      .map((item, i) => {
        const mark = numbered ? `${i + 1}. ` : '- ';
        const [first = '', ...rest] = joinPieces(piecesIn(item, depth + 1))
          .trim()
          .replaceAll(/\n\n+/g, '\n')
          .split('\n');
        return [mark + first, ...rest.map((line) => ' '.repeat(mark.length) + line)].join('\n');
      })
      .join('\n');
  }
}

/** Elements created by scripts may have upper-case names. */
const elementName = ({ localName }: PageNode): string => localName?.toLowerCase() ?? '';

const headingPieces = (level: number, text: string): readonly TextPiece[] =>
  text === '' ? [] : [{ block: true, text: `${'#'.repeat(level)} ${text}` }];

function formatImage(child: PageNode): string {
  const alt = child.getAttribute?.('alt')?.trim();
  return alt ? `[image: ${alt}]` : '';
}

/** Formats a link with its URL; a link to something other than a page becomes plain text. */
function formatLink(text: string, href: string, base: string): string {
  const words = text.trim();
  if (words === '' || href.startsWith('#') || !URL.canParse(href, base)) return text;
  const url = new URL(href, base);
  return /^https?:$/.test(url.protocol) ? `[${words}](${url.href})` : text;
}

function codeFence(text: string): string {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${trimEndChars(text.replace(/^\n/, ''), '\n')}\n${fence}`;
}

const flatText = (node: PageNode): string => (node.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

const prefixLines = (mark: string, text: string): string =>
  text
    .split('\n')
    .map((line) => (mark + line).trimEnd())
    .join('\n');

function formatTable(node: PageNode): string {
  const rows = findElements(node, 'tr').map((row) =>
    [...row.childNodes].filter((cell) => /^t[dh]$/.test(elementName(cell))).map(flatText),
  );
  return rows
    .filter((row) => row.length > 0)
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

/** Returns the elements of this name below a node that are not part of a nested table; rows are at most two levels down. */
function findElements(node: PageNode, name: string): readonly PageNode[] {
  return [...node.childNodes].flatMap((child) => {
    if (elementName(child) === name) return [child];
    return /^t(?:head|body|foot)$/.test(elementName(child)) ? findElements(child, name) : [];
  });
}

/** Joins pieces: inline text becomes lines, and blocks are separated by an empty line. */
function joinPieces(pieces: readonly TextPiece[]): string {
  const parts: string[] = [];
  let line = '';
  const flush = (): void => {
    const text = line.replaceAll(/ {2,}/g, ' ').replaceAll(/ ?\n ?/g, '\n');
    if (text.trim() !== '') parts.push(text);
    line = '';
  };
  for (const piece of pieces) {
    if (!piece.block) {
      line += piece.text;
      continue;
    }
    flush();
    parts.push(piece.text);
  }
  flush();
  return parts.length === 1 ? (parts[0] ?? '') : parts.map((part) => part.trim()).join('\n\n');
}
