// Renders one Markdown page to HTML with heading anchors and rewritten links, and splits it into sections for the search index.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Marked, type Token, type Tokens } from 'marked';

/** A part of a page under one heading, as the search index holds it. */
export type PageSection = { readonly heading: string; readonly anchor: string; readonly text: string };

/** A rendered page. */
export type RenderedPage = {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly PageSection[];
};

const languages: Readonly<Record<string, typeof bash>> = {
  sh: bash,
  json,
  markdown,
  python,
  ts: typescript,
  typescript,
  js: typescript,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** Escapes text for HTML content and attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.codePointAt(0) ?? 0};`);

/** Renders a page; `rewriteLink` maps each link target of the source to one of the site. */
export function renderMarkdown(text: string, rewriteLink: (href: string) => string): RenderedPage {
  const anchors = new Map<string, number>();
  const sections: { heading: string; anchor: string; text: string }[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }): string {
        const heading = getPlainText(tokens);
        const anchor = makeAnchor(anchors, heading);
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${depth === 1 ? '' : link}</h${depth}>\n`;
      },
      link({ href, tokens }): string {
        return `<a href="${escapeHtml(rewriteLink(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: description }): string {
        return `<img src="${escapeHtml(rewriteLink(href))}" alt="${escapeHtml(description)}" loading="lazy">`;
      },
      code({ text: code, lang }): string {
        const language = lang !== undefined && Object.hasOwn(languages, lang) ? lang : undefined;
        const body = language ? hljs.highlight(code, { language }).value : escapeHtml(code);
        return `<pre tabindex="0"><code>${body}</code></pre>\n`;
      },
      table(token): string {
        const rows = [token.header, ...token.rows].map((cells) => cells.map((cell) => this.tablecell(cell)).join(''));
        const [head = '', ...body] = rows.map((cells) => this.tablerow({ text: cells }));
        return `<div class="table" tabindex="0"><table><thead>${head}</thead><tbody>${body.join('')}</tbody></table></div>\n`;
      },
    },
  });
  const sectionAnchors = new Map<string, number>();
  for (const token of marked.lexer(text)) {
    if (token.type === 'heading') {
      const heading = getPlainText(token.tokens ?? []);
      sections.push({ heading, anchor: makeAnchor(sectionAnchors, heading), text: '' });
    } else {
      const section = sections.at(-1);
      if (section) section.text = `${section.text} ${getPlainText([token])}`.trim();
    }
  }
  return { title: sections[0]?.heading ?? '', html: marked.parse(text, { async: false }), sections };
}

/** Returns the anchor of a heading as code hosts make it; a second one of the same name gets a number. */
function makeAnchor(used: Map<string, number>, heading: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const count = used.get(anchor) ?? 0;
  used.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

/** Returns the words of tokens without any markup. */
function getPlainText(tokens: readonly Token[]): string {
  return tokens
    .map((token): string => {
      if (token.type === 'html' || token.type === 'image') return '';
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map((cell) => getPlainText(cell.tokens)).join(' ')).join(' ');
      }
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => getPlainText(item.tokens)).join(' ');
      if ('tokens' in token && token.tokens) return getPlainText(token.tokens);
      return 'text' in token && typeof token.text === 'string' ? decodeEntities(token.text) : ' ';
    })
    .join('')
    .replace(/\s+/g, ' ');
}

const decodeEntities = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
