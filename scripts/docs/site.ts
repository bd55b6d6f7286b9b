// Builds the documentation site: Markdown pages, API reference, linked source files, images and the search index, as static files.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readApi } from './api-reference.ts';
import { renderApiPages } from './api-pages.ts';
import { escapeHtml, renderMarkdown, type PageSection } from './markdown.ts';
import { navigation } from './navigation.ts';
import { renderPage, type NavigationSection } from './page-template.ts';

/** A page before it is put into the template. */
export type SitePage = {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly PageSection[];
};

/** What a build wrote, and a sentence for each problem. */
export type SiteReport = { readonly pages: number; readonly problems: readonly string[] };

/** An entry of the search index; `href` is relative to the root of the site. */
type SearchEntry = { readonly title: string; readonly page: string; readonly href: string; readonly text: string };

const maxIndexedText = 1500;

/** Writes the site of the repository at `root` into `outDir`, which is emptied first. */
export function buildSite(root: string, outDir: string): SiteReport {
  const problems: string[] = [];
  const sources = new Set<string>();
  const listed = navigation.flatMap(({ pages }) => pages);
  const decisions = listMarkdown(root, 'docs/decisions');
  for (const file of listMarkdown(root, 'docs'))
    if (!listed.includes(file)) problems.push(`${file} is not listed in scripts/docs/navigation.ts.`);
  const pages = [...listed, ...decisions]
    .filter((file) => existsSync(path.join(root, file)) || (problems.push(`${file} does not exist.`), false))
    .map((file) => readMarkdownPage(root, file, sources, problems));
  const api = renderApiPages(readApi(root));
  const sourcePages = [...sources].toSorted().map((file) => renderSource(root, file));

  const titles = new Map(pages.map(({ path: page, title }) => [page, title]));
  const toLink = (file: string) => ({ title: titles.get(toSitePath(file)) ?? '', path: toSitePath(file) });
  const sections: NavigationSection[] = [
    ...navigation.map(({ title, pages: files }) => ({
      title,
      links: files.map(toLink).filter((link) => titles.has(link.path)),
    })),
    { title: 'API', links: api.map(({ title, path: page }) => ({ title, path: page })) },
    { title: 'Decisions', links: decisions.map(toLink) },
  ];

  rmSync(outDir, { recursive: true, force: true });
  for (const page of [...pages, ...api])
    writeSiteFile(outDir, page.path, renderPage({ ...page, navigation: sections }));
  for (const page of sourcePages) writeSiteFile(outDir, page.path, renderPage({ ...page, navigation: [] }));
  for (const name of ['style.css', 'search.js'])
    cpSync(path.join(import.meta.dirname, 'assets', name), path.join(outDir, name));
  cpSync(path.join(root, 'docs/screens'), path.join(outDir, 'screens'), { recursive: true });
  const index = [...pages, ...api].flatMap(toSearchEntries);
  writeSiteFile(outDir, 'search-index.js', `globalThis.searchIndex = ${JSON.stringify(index)};\n`);
  return { pages: pages.length + api.length + sourcePages.length, problems: [...problems, ...findBrokenLinks(outDir)] };
}

const listMarkdown = (root: string, folder: string): readonly string[] =>
  globSync(`${folder}/*.md`, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

/** Returns the path of a repository file in the site: documents at the top, decisions and sources in folders. */
function toSitePath(file: string): string {
  if (file === 'README.md') return 'index.html';
  // docs/agents.md is agents.html.
  if (file === 'AGENTS.md') return 'for-coding-agents.html';
  const [, name] = /^(?:docs\/)?([\w-]+(?:\/[\w-]+)?)\.md$/.exec(file) ?? [];
  if (name !== undefined) return `${name.toLowerCase()}.html`;
  return file.startsWith('docs/screens/') ? file.slice('docs/'.length) : `source/${file}.html`;
}

function readMarkdownPage(root: string, file: string, sources: Set<string>, problems: string[]): SitePage {
  const sitePath = toSitePath(file);
  const rewriteLink = (href: string): string => {
    if (/^(?:[a-z]+:|#)/.test(href)) return href;
    const [target = '', anchor] = href.split('#');
    const linked = path.posix.join(path.posix.dirname(file), target).replace(/\/$/, '');
    if (!existsSync(path.join(root, linked))) {
      problems.push(`${file} links to ${href}, which does not exist.`);
      return href;
    }
    const toFile = getLinkedPage(root, linked, sources);
    return path.posix.relative(path.posix.dirname(sitePath), toFile) + (anchor === undefined ? '' : `#${anchor}`);
  };
  return { path: sitePath, ...renderMarkdown(readFileSync(path.join(root, file), 'utf8'), rewriteLink) };
}

/** Returns the page that stands for a linked file or folder; linked sources, and those of a linked folder, get their own page. */
function getLinkedPage(root: string, file: string, sources: Set<string>): string {
  const sitePath = toSitePath(file);
  if (sitePath.startsWith('source/')) {
    sources.add(file);
    for (const inside of listFolder(root, file)) getLinkedPage(root, inside, sources);
  }
  return sitePath;
}

const listFolder = (root: string, folder: string): readonly string[] =>
  statSync(path.join(root, folder)).isDirectory()
    ? globSync('**/*.*', { cwd: path.join(root, folder) })
        .map((name) => path.posix.join(folder, name.replaceAll('\\', '/')))
        .toSorted()
    : [];

function renderSource(root: string, file: string): SitePage {
  const sitePath = `source/${file}.html`;
  const links = listFolder(root, file).map((inside) => {
    const href = path.posix.relative(path.posix.dirname(sitePath), toSitePath(inside));
    return `<li><a href="${href}">${escapeHtml(inside)}</a></li>`;
  });
  const body =
    links.length > 0
      ? `<ul>${links.join('')}</ul>`
      : `<pre tabindex="0"><code>${escapeHtml(readFileSync(path.join(root, file), 'utf8'))}</code></pre>`;
  return { path: sitePath, title: file, html: `<h1>${escapeHtml(file)}</h1>${body}`, sections: [] };
}

const toSearchEntries = (page: SitePage): readonly SearchEntry[] =>
  page.sections.map(({ heading, anchor, text }) => ({
    title: heading,
    page: page.title,
    href: `${page.path}#${anchor}`,
    text: text.slice(0, maxIndexedText),
  }));

/** Returns a sentence for each link of the written site that leads to no file or to no anchor, and for each request to another host. */
function findBrokenLinks(outDir: string): readonly string[] {
  const files = globSync('**/*.html', { cwd: outDir }).map((file) => file.replaceAll('\\', '/'));
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(outDir, file), 'utf8')]));
  const anchors = new Map([...texts].map(([file, text]) => [file, new Set(getAttributes(text, 'id'))]));
  return [...texts].flatMap(([file, text]) => [
    ...getAttributes(text, 'src')
      .filter((src) => /^(?:[a-z]+:|\/)/.test(src))
      .map((src) => `${file} loads ${src} from outside the site.`),
    ...[...getAttributes(text, 'href'), ...getAttributes(text, 'src')].flatMap((href) => {
      if (/^[a-z]+:/.test(href)) return [];
      const [target = '', anchor = ''] = href.split('#');
      const linked = target === '' ? file : path.posix.join(path.posix.dirname(file), target);
      if (!existsSync(path.join(outDir, linked))) return [`${file} links to ${href}, which the site does not contain.`];
      const ids = anchors.get(linked);
      return anchor === '' || ids?.has(decodeURIComponent(anchor))
        ? []
        : [`${file} links to ${href}, which has no such heading.`];
    }),
  ]);
}

const getAttributes = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value.replaceAll('&#38;', '&'));

function writeSiteFile(outDir: string, name: string, text: string): void {
  const file = path.join(outDir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
