// Renders parsed Markdown, code and diffs as HTML text. Every text is escaped, and invisible characters are made visible.
import { escapeInvisible } from '../core/index.ts';
import { parseMarkdown, type MarkdownBlock, type MarkdownInline } from '../core/markdown/index.ts';

/** Escapes a text for HTML, between tags or in an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

/** A text of a model or a tool: control characters are made visible, then it is escaped. */
export const formatHtmlText = (text: string): string => escapeHtml(escapeInvisible(text));

/** Renders Markdown. HTML in the text stays text. */
export const formatHtmlMarkdown = (text: string): string => parseMarkdown(text).map(formatBlock).join('\n');

/** Renders code or output in a monospace block. */
export const formatHtmlCode = (text: string, language = ''): string =>
  language === 'diff' ? formatHtmlDiff(text) : `<pre><code>${formatHtmlText(text)}</code></pre>`;

/** Renders a unified diff with a colour for added and for removed lines. */
export const formatHtmlDiff = (diff: string): string =>
  `<pre class="diff"><code>${diff.split('\n').map(formatDiffLine).join('')}</code></pre>`;

function formatDiffLine(line: string): string {
  const kind = /^(?:\+\+\+|---|@@)/.test(line)
    ? 'hunk'
    : line.startsWith('+')
      ? 'add'
      : line.startsWith('-')
        ? 'del'
        : '';
  // A block element of its own: the colour covers the whole width. An empty line keeps its height.
  return `<span class="line${kind && ` ${kind}`}">${formatHtmlText(line) || ' '}</span>`;
}

const formatInlines = (inlines: readonly MarkdownInline[]): string => inlines.map(formatInline).join('');

function formatBlock(block: MarkdownBlock): string {
  switch (block.type) {
    case 'paragraph':
      return `<p>${formatInlines(block.inlines)}</p>`;
    case 'heading': {
      // The headings of an answer rank below those of the page.
      const level = Math.min(6, block.level + 2);
      return `<h${level}>${formatInlines(block.inlines)}</h${level}>`;
    }
    case 'code':
      return formatHtmlCode(block.text, block.language);
    case 'quote':
      return `<blockquote>${block.blocks.map(formatBlock).join('')}</blockquote>`;
    case 'list': {
      const items = block.items.map((blocks) => `<li>${blocks.map(formatItemBlock).join('')}</li>`).join('');
      return block.start === undefined ? `<ul>${items}</ul>` : `<ol start="${block.start}">${items}</ol>`;
    }
    case 'table': {
      const row = (cells: readonly (readonly MarkdownInline[])[], tag: 'th' | 'td'): string =>
        `<tr>${cells.map((cell) => `<${tag}>${formatInlines(cell)}</${tag}>`).join('')}</tr>`;
      const body = block.rows.map((cells) => row(cells, 'td')).join('');
      return `<div class="scroll"><table><thead>${row(block.head, 'th')}</thead><tbody>${body}</tbody></table></div>`;
    }
    case 'rule':
      return '<hr>';
  }
}

/** A paragraph of a list item needs no element of its own. */
const formatItemBlock = (block: MarkdownBlock): string =>
  block.type === 'paragraph' ? formatInlines(block.inlines) : formatBlock(block);

function formatInline(inline: MarkdownInline): string {
  switch (inline.type) {
    case 'text':
      return formatHtmlText(inline.text);
    case 'code':
      return `<code>${formatHtmlText(inline.text)}</code>`;
    case 'strong':
      return `<strong>${formatInlines(inline.inlines)}</strong>`;
    case 'emphasis':
      return `<em>${formatInlines(inline.inlines)}</em>`;
    case 'struck':
      return `<del>${formatInlines(inline.inlines)}</del>`;
    case 'link': {
      const target =
        inline.target === undefined ? '' : ` <span class="target">(${formatHtmlText(inline.target)})</span>`;
      return `<a href="${escapeHtml(inline.href)}" rel="noreferrer noopener nofollow">${formatInlines(inline.inlines)}</a>${target}`;
    }
    case 'break':
      return '<br>';
  }
}
