// Exports a session as Markdown with collapsed tool calls.
import type { ExportDocument } from './export.ts';
import { escapeHtml } from './html-markdown.ts';
import { toTranscriptItems, type TranscriptItem } from './transcript-items.ts';

/** Formats a session as Markdown. */
export function formatMarkdownExport(document: ExportDocument): string {
  const fields = [
    `Model: ${formatInlineCode(document.model || 'none yet')}`,
    `Session: ${formatInlineCode(document.id)}`,
    `Last change: ${document.changed}`,
  ];
  const title = `# ${document.name.replaceAll(/[\\`*_[\]<>#]/g, String.raw`\$&`).replaceAll('\n', ' ')}`;
  const list = fields.map((line) => `- ${line}`).join('\n');
  return `${[title, list, ...toTranscriptItems(document.messages, document.calls, document.added).map(formatMarkdownItem)].join('\n\n')}\n`;
}

function formatMarkdownItem(item: TranscriptItem): string {
  switch (item.type) {
    case 'text':
      return `## ${item.speaker}\n\n${item.text}`;
    case 'reasoning':
      return formatDetails('Thinking', formatCodeBlock(item.text));
    case 'file':
      return formatInlineCode(item.text);
    case 'call': {
      const { tool, input, result, outcome: ended, diff } = item;
      const outcome = result ? (ended === 'ok' ? '' : ` (${ended})`) : ' (no result yet)';
      const blocks = [
        ...(diff === undefined ? [] : [formatCodeBlock(diff, 'diff')]),
        ...(input === '' ? [] : [formatCodeBlock(input, 'json')]),
        ...(result ? [formatCodeBlock(result.text)] : []),
      ];
      return formatDetails(`Tool: <code>${escapeHtml(tool)}</code>${outcome}`, blocks.join('\n\n'));
    }
  }
}

const formatDetails = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** Returns a fence longer than any run of backticks in the text, so that the text cannot close it. */
function formatCodeBlock(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function formatInlineCode(text: string): string {
  const ticks = '`'.repeat(longestBacktickRun(text) + 1);
  const line = text.replaceAll('\n', ' ');
  return text.includes('`') ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

const longestBacktickRun = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((longest, [ticks]) => Math.max(longest, ticks.length), 0);
