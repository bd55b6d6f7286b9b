// HTML of a documentation page: side bar, search field and content, with relative links only so that it works from a folder.
import { escapeHtml } from './markdown.ts';

/** A link of the side bar. */
export type NavigationLink = { readonly title: string; readonly path: string };

/** A titled group of links in the side bar. */
export type NavigationSection = { readonly title: string; readonly links: readonly NavigationLink[] };

/** Renders a whole page; `path` is its place in the site, such as `decisions/bundler.html`. */
export function renderPage(page: {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly navigation: readonly NavigationSection[];
}): string {
  const root = '../'.repeat(page.path.split('/').length - 1);
  const navigation = page.navigation.map(({ title, links }) => {
    const items = links.map((link) => {
      const current = link.path === page.path ? ' aria-current="page"' : '';
      return `<li><a href="${root}${link.path}"${current}>${escapeHtml(link.title)}</a></li>`;
    });
    const open = links.some((link) => link.path === page.path) || links.length < 10 ? ' open' : '';
    return `<details${open}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`;
  });
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} - Fairlead</title>
<link rel="stylesheet" href="${root}style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}index.html">Fairlead</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" aria-controls="results" autocomplete="off">
<ul id="results" hidden></ul>
</div>
</header>
<div class="${navigation.length === 0 ? 'wide' : 'columns'}">
${navigation.length === 0 ? '' : `<nav aria-label="Pages">${navigation.join('\n')}</nav>`}
<main id="content">
${page.html}
</main>
</div>
<script src="${root}search.js"></script>
</body>
</html>
`;
}
