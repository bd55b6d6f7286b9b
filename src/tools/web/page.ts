// Extracts the readable part of a page in a worker thread, because a page may be arbitrarily large, deep and malformed.
import { isHidingStyle } from '../../core/index.ts';
import { runInWorkerThread, serveWorkerThread } from '../worker-thread.ts';
import { toMarkdown, type PageNode } from './markdown.ts';

/** The readable content of a page. */
export type ReadablePage = { readonly title: string; readonly text: string };

const extractTimeoutMs = 20_000;
/** Max nesting depth: article extraction slows down with depth. Normal pages are not half as deep. */
const maxDepth = 150;

/** Extracts the content of a page. */
export const readPage = async (html: string, url: string, signal: AbortSignal): Promise<ReadablePage> =>
  (await runInWorkerThread(import.meta.url, { html, url }, { signal, timeoutMs: extractTimeoutMs })) as ReadablePage;

/** Returns the article of a page, or its complete body if there is none. The libraries are loaded in the thread only. */
async function extractPage(html: string, url: string): Promise<ReadablePage> {
  const [{ parseHTML }, { Readability }] = await Promise.all([import('linkedom'), import('@mozilla/readability')]);
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  // Invisible content is often meant for models only.
  for (const element of document.querySelectorAll('[hidden], [style], font[color]'))
    if (element.hasAttribute('hidden') || isHidingStyle(styleOf(element))) element.remove();
  const title = document.querySelector('title')?.textContent?.trim() ?? '';
  const given = document.querySelector('base')?.getAttribute('href') ?? url;
  const base = URL.canParse(given, url) ? new URL(given, url).href : url;
  const fullText = toMarkdown(document, base);
  if (isTooDeep(document)) return { title, text: fullText };
  const article = new Readability(document, { serializer: (node) => node }).parse();
  const text = article?.content ? toMarkdown(article.content, base) : '';
  // The article is used only if it is most of the page: a list of links is not an article, but may be what the model needs.
  return { title: article?.title?.trim() || title, text: text.length * 4 < fullText.length ? fullText : text };
}

/** The style of an element; the color of a font element is one too. */
function styleOf(element: { readonly localName: string; getAttribute(name: string): string | null }): string {
  const color = element.localName === 'font' ? element.getAttribute('color') : null;
  return `${color === null ? '' : `color:${color};`}${element.getAttribute('style') ?? ''}`;
}

function isTooDeep(top: PageNode): boolean {
  let level: readonly PageNode[] = [top];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++)
    level = level.flatMap((node) => (node.nodeType === 3 ? [] : [...node.childNodes]));
  return level.length > 0;
}

serveWorkerThread(import.meta.url, (task) => {
  const { html, url } = task as { readonly html: string; readonly url: string };
  return extractPage(html, url);
});
