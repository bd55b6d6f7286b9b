// Pages of the API reference: one for each package subpath, with links between the names.
import type { ApiModule } from './api-reference.ts';
import { escapeHtml, renderMarkdown } from './markdown.ts';
import type { SitePage } from './site.ts';

const keywords = new Set(
  'type interface class function const let readonly extends implements static get set constructor new keyof typeof infer in is as unique symbol abstract async true false null undefined void never unknown string number boolean object bigint'.split(
    ' ',
  ),
);
const declarationToken = /(\/\*\*[^]*?\*\/)|('(?:[^'\\\n]|\\.)*')|([A-Za-z_$][\w$]*)|([^])/g;

/** Renders the reference; a name links to the page of its own subpath first, then to the first page that has it. */
export function renderApiPages(modules: readonly ApiModule[]): readonly SitePage[] {
  const firstPage = new Map<string, string>();
  for (const { subpath, entries } of modules.toSorted((a, b) => b.entries.length - a.entries.length))
    for (const { name } of entries) if (!firstPage.has(name)) firstPage.set(name, getFileName(subpath));
  return modules.map(({ subpath, entries }) => {
    const own = new Set(entries.map(({ name }) => name));
    const link = (name: string): string | undefined =>
      own.has(name) ? `#${name}` : firstPage.has(name) ? `${firstPage.get(name)}#${name}` : undefined;
    const list = entries.map(({ name }) => `<a href="#${name}"><code>${escapeHtml(name)}</code></a>`).join(' ');
    const body = entries.map(({ name, description, declaration, source }) =>
      [
        `<h2 id="${name}">${escapeHtml(name)}<a class="anchor" href="#${name}" aria-label="Link to this name">#</a></h2>`,
        renderMarkdown(description, (href) => href).html,
        `<pre tabindex="0"><code>${highlightDeclaration(declaration, name, link)}</code></pre>`,
        `<p class="source">${escapeHtml(source)}</p>`,
      ].join('\n'),
    );
    return {
      path: `api/${getFileName(subpath)}`,
      title: subpath,
      html: `<h1>${escapeHtml(subpath)}</h1>\n<p>${list}</p>\n${body.join('\n')}`,
      sections: [
        { heading: subpath, anchor: 'content', text: `API reference ${entries.map(({ name }) => name).join(' ')}` },
        ...entries.map(({ name, description }) => ({ heading: name, anchor: name, text: description })),
      ],
    };
  });
}

const getFileName = (subpath: string): string => `${subpath.replaceAll('/', '-')}.html`;

function highlightDeclaration(text: string, self: string, link: (name: string) => string | undefined): string {
  return text.replace(declarationToken, (token, comment?: string, literal?: string, name?: string) => {
    if (comment !== undefined) return `<span class="comment">${escapeHtml(comment)}</span>`;
    if (literal !== undefined) return `<span class="string">${escapeHtml(literal)}</span>`;
    if (name === undefined) return escapeHtml(token);
    if (keywords.has(name)) return `<span class="keyword">${name}</span>`;
    const href = name === self ? undefined : link(name);
    return href === undefined ? escapeHtml(name) : `<a href="${href}">${escapeHtml(name)}</a>`;
  });
}
