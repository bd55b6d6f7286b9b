// A session as one HTML page that needs nothing else: every text escaped, no scripts, and a policy that would stop one.
import { hash } from 'node:crypto';
import { escaped, type Paper } from './paper.ts';
import { outlineOf, type Item } from './outline.ts';

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: .85rem; opacity: .8; }
dd { margin: 0; overflow-wrap: anywhere; }
article { border-top: 1px solid var(--line); padding: .75rem 0; }
h2 { font-size: .85rem; margin: 0 0 .25rem; opacity: .7; }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.user { background: var(--soft); padding: .75rem; border-radius: .5rem; border: 0; margin: .5rem 0; }
details { margin: .5rem 0; border-left: 3px solid var(--line); padding-left: .75rem; font-size: .9rem; }
summary { cursor: pointer; }
pre { font: .85rem/1.45 ui-monospace, monospace; background: var(--soft); padding: .5rem; margin: .5rem 0; }
`;

/** The session as an HTML page. */
export function htmlOf(paper: Paper): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'`;
  const about = [
    ['Model', paper.model || 'none yet'],
    ['Session', paper.id],
    ['Last change', paper.changed],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(paper.name)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(paper.name)}</h1>
<dl>${about.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>
${outlineOf(paper.messages).map(itemHtml).join('\n')}
</body>
</html>
`;
}

function itemHtml(item: Item): string {
  switch (item.type) {
    case 'said':
      return `<article class="${item.who.toLowerCase()}"><h2>${item.who}</h2><div class="text">${escaped(item.text)}</div></article>`;
    case 'thought':
      return `<details><summary>Thinking</summary><pre>${escaped(item.text)}</pre></details>`;
    case 'file':
      return `<p>${escaped(item.text)}</p>`;
    case 'call': {
      const { tool, input, result } = item;
      const outcome = result ? (result.failed ? ' (failed)' : '') : ' (no result yet)';
      const asked = input === '' ? '' : `<pre>${escaped(input)}</pre>`;
      const given = result ? `<pre>${escaped(result.text)}</pre>` : '';
      return `<details><summary>Tool: <code>${escaped(tool)}</code>${outcome}</summary>${asked}${given}</details>`;
    }
  }
}
