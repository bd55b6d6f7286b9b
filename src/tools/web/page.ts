// The readable part of a page, found in a thread of its own: a page may be as large, deep and crooked as its author likes.
import { inOwnThread, serveThread } from '../own-thread.ts';
import { markdownOf, type PageNode } from './markdown.ts';

/** What is worth reading of a page. */
export type Page = { readonly title: string; readonly text: string };

const longestMs = 20_000;
/** The search for an article takes ever longer the deeper a page is nested. Pages that people write are not half as deep. */
const deepest = 150;

const hiding = /display\s*:\s*none|visibility\s*:\s*hidden/i;

/** Reads a page. */
export const readPage = async (html: string, url: string, signal: AbortSignal): Promise<Page> =>
  (await inOwnThread(import.meta.url, { html, url }, { signal, ms: longestMs })) as Page;

/** The article of a page, or all of its body where there is none. Its libraries are loaded in the thread alone. */
async function pageOf(html: string, url: string): Promise<Page> {
  const [{ parseHTML }, { Readability }] = await Promise.all([import('linkedom'), import('@mozilla/readability')]);
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  // What a reader of the page does not see is often meant for a model alone.
  for (const element of document.querySelectorAll('[hidden], [style]'))
    if (element.hasAttribute('hidden') || hiding.test(element.getAttribute('style') ?? '')) element.remove();
  const title = document.querySelector('title')?.textContent?.trim() ?? '';
  const given = document.querySelector('base')?.getAttribute('href') ?? url;
  const base = URL.canParse(given, url) ? new URL(given, url).href : url;
  const whole = markdownOf(document, base);
  if (isDeep(document)) return { title, text: whole };
  const article = new Readability(document, { serializer: (node) => node }).parse();
  const text = article?.content ? markdownOf(article.content, base) : '';
  // What was found is shown only if it is the bulk of the page: a list of links is no article, but may be what was looked for.
  return { title: article?.title?.trim() || title, text: text.length * 4 < whole.length ? whole : text };
}

function isDeep(top: PageNode): boolean {
  let level: readonly PageNode[] = [top];
  for (let depth = 0; depth <= deepest && level.length > 0; depth++)
    level = level.flatMap((node) => (node.nodeType === 3 ? [] : [...node.childNodes]));
  return level.length > 0;
}

serveThread(import.meta.url, (task) => {
  const { html, url } = task as { readonly html: string; readonly url: string };
  return pageOf(html, url);
});
