// Exports a session as one self-contained HTML page: answers rendered as Markdown, edits as diffs, all text escaped, no scripts, and a content security policy that blocks scripts.
import { hash } from 'node:crypto';
import type { Json } from '../core/index.ts';
import type { ExportDocument } from './export.ts';
import { formatToolInput } from './format-call.ts';
import { formatHtmlCode, formatHtmlDiff, formatHtmlMarkdown, formatHtmlText } from './html-markdown.ts';
import { previewText } from './reports/branch-path.ts';
import { toTranscriptItems, type TranscriptItem } from './transcript-items.ts';

const stylesheet = `
:root { color-scheme: light dark; --text: light-dark(#1c1e21, #e6e7e9); --page: light-dark(#fff, #16181b); --soft: light-dark(#f3f4f6, #212428);
  --line: light-dark(#d9dce1, #3a3f46); --quiet: light-dark(#5c636d, #a2a9b3); --link: light-dark(#0b5cad, #7db8f7); --bad: light-dark(#a3231a, #ff9b91);
  --add: light-dark(#dcf5e1, #16371f); --del: light-dark(#fde2df, #43201d); }
body { font: 16px/1.6 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; color: var(--text); background: var(--page); }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h3, h4, h5, h6 { font-size: 1.05rem; margin: 1rem 0 .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: .85rem; color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
article { padding: .5rem 0; overflow-wrap: anywhere; }
article > h2 { font-size: .8rem; margin: 0 0 .25rem; color: var(--quiet); font-weight: 600; }
p { margin: .5rem 0; }
.user { background: var(--soft); padding: .75rem 1rem; border-radius: .5rem; margin: 1rem 0; }
.plain { white-space: pre-wrap; }
code, pre { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; font-size: .85rem; }
:not(pre) > code { background: var(--soft); padding: .1rem .3rem; border-radius: .25rem; }
pre { line-height: 1.45; background: var(--soft); padding: .6rem .75rem; margin: .5rem 0; border-radius: .35rem; overflow-x: auto; tab-size: 4; }
details pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow-y: auto; }
.line { display: block; }
.add { background: var(--add); }
.del { background: var(--del); }
.hunk { color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
blockquote { margin: .5rem 0; padding-left: .9rem; border-left: 3px solid var(--line); color: var(--quiet); }
hr { border: 0; border-top: 1px solid var(--line); margin: 1rem 0; }
a { color: var(--link); }
.target { color: var(--quiet); font-size: .85em; overflow-wrap: anywhere; }
details { margin: .4rem 0; border: 1px solid var(--line); border-radius: .35rem; padding: .25rem .75rem; font-size: .9rem; }
summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
details[open] > summary { white-space: normal; overflow-wrap: anywhere; }
.outcome { color: var(--bad); font-weight: 600; }
.outcome.none { color: var(--quiet); font-weight: 400; }
`;

/** Formats a session as an HTML page. */
export function formatHtmlExport(document: ExportDocument): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'`;
  const fields = [
    ['Model', document.model || 'none yet'],
    [
      'Session',
      document.title === undefined || document.title === document.name
        ? document.id
        : `${document.name} (${document.id})`,
    ],
    ...(document.folder === undefined ? [] : [['Folder', document.folder]]),
    ['Last change', document.changed],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${formatHtmlText(document.title ?? document.name)}</title>
<style>${stylesheet}</style>
</head>
<body>
<h1>${formatHtmlText(document.title ?? document.name)}</h1>
<dl>${fields.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${formatHtmlText(value)}</dd>`).join('')}</dl>
${toTranscriptItems(document.messages, document.calls, document.added).map(formatHtmlItem).join('\n')}
</body>
</html>
`;
}

function formatHtmlItem(item: TranscriptItem): string {
  switch (item.type) {
    case 'text': {
      // What the user wrote is shown as it was typed; an answer is Markdown.
      const body =
        item.speaker === 'Assistant'
          ? formatHtmlMarkdown(item.text)
          : `<div class="plain">${formatHtmlText(item.text)}</div>`;
      return `<article class="${item.speaker.toLowerCase()}"><h2>${item.speaker}</h2>${body}</article>`;
    }
    case 'reasoning':
      return `<details><summary>Thinking</summary>${formatHtmlMarkdown(item.text)}</details>`;
    case 'file':
      return `<p>${formatHtmlText(item.text)}</p>`;
    case 'call':
      return formatHtmlCall(item);
  }
}

/** A call: one line with its input and how it ended; an edit shows its diff, other calls their input and output when they are opened. */
function formatHtmlCall({ tool, input, result, outcome, diff }: TranscriptItem & { readonly type: 'call' }): string {
  const label = result
    ? outcome === 'ok'
      ? ''
      : ` <span class="outcome">${outcome}</span>`
    : ' <span class="outcome none">no result yet</span>';
  const summary = `<code>${formatHtmlText(tool)}</code> ${formatHtmlText(summarizeInput(input))}${label}`;
  const blocks = [
    ...(diff === undefined ? (input === '' ? [] : [formatHtmlCode(input)]) : [formatHtmlDiff(diff)]),
    ...(result ? [formatHtmlCode(result.text)] : []),
  ];
  return `<details${diff === undefined ? '' : ' open'}><summary>${summary}</summary>${blocks.join('')}</details>`;
}

/** The input on one line; the text of a call that is not JSON as it is. */
function summarizeInput(input: string): string {
  try {
    return formatToolInput(JSON.parse(input) as Json);
  } catch {
    return previewText(input, 200);
  }
}
