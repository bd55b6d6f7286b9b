// Exports a session as one self-contained HTML page: all text escaped, no scripts, and a content security policy that blocks scripts.
import { hash } from 'node:crypto';
import type { ExportDocument } from './export.ts';
import { toTranscriptItems, type TranscriptItem } from './transcript-items.ts';

const stylesheet = `
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

/** Formats a session as an HTML page. */
export function formatHtmlExport(document: ExportDocument): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'`;
  const fields = [
    ['Model', document.model || 'none yet'],
    ['Session', document.id],
    ['Last change', document.changed],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(document.name)}</title>
<style>${stylesheet}</style>
</head>
<body>
<h1>${escapeHtml(document.name)}</h1>
<dl>${fields.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>
${toTranscriptItems(document.messages).map(formatHtmlItem).join('\n')}
</body>
</html>
`;
}

function formatHtmlItem(item: TranscriptItem): string {
  switch (item.type) {
    case 'text':
      return `<article class="${item.speaker.toLowerCase()}"><h2>${item.speaker}</h2><div class="text">${escapeHtml(item.text)}</div></article>`;
    case 'reasoning':
      return `<details><summary>Thinking</summary><pre>${escapeHtml(item.text)}</pre></details>`;
    case 'file':
      return `<p>${escapeHtml(item.text)}</p>`;
    case 'call': {
      const { tool, input, result } = item;
      const outcome = result ? (result.failed ? ' (failed)' : '') : ' (no result yet)';
      const inputBlock = input === '' ? '' : `<pre>${escapeHtml(input)}</pre>`;
      const outputBlock = result ? `<pre>${escapeHtml(result.text)}</pre>` : '';
      return `<details><summary>Tool: <code>${escapeHtml(tool)}</code>${outcome}</summary>${inputBlock}${outputBlock}</details>`;
    }
  }
}

/** Escapes a text for HTML, between tags or in an attribute. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
