// A session as Markdown: what was said as it is, tool calls folded.
import { escaped, type Paper } from './paper.ts';
import { outlineOf, type Item } from './outline.ts';

/** The session as Markdown. */
export function markdownOf(paper: Paper): string {
  const about = [
    `Model: ${code(paper.model || 'none yet')}`,
    `Session: ${code(paper.id)}`,
    `Last change: ${paper.changed}`,
  ];
  const title = `# ${paper.name.replaceAll(/[\\`*_[\]<>#]/g, String.raw`\$&`).replaceAll('\n', ' ')}`;
  const list = about.map((line) => `- ${line}`).join('\n');
  return `${[title, list, ...outlineOf(paper.messages).map(itemMarkdown)].join('\n\n')}\n`;
}

function itemMarkdown(item: Item): string {
  switch (item.type) {
    case 'said':
      return `## ${item.who}\n\n${item.text}`;
    case 'thought':
      return folded('Thinking', fenced(item.text));
    case 'file':
      return code(item.text);
    case 'call': {
      const { tool, input, result } = item;
      const outcome = result ? (result.failed ? ' (failed)' : '') : ' (no result yet)';
      const blocks = [...(input === '' ? [] : [fenced(input, 'json')]), ...(result ? [fenced(result.text)] : [])];
      return folded(`Tool: <code>${escaped(tool)}</code>${outcome}`, blocks.join('\n\n'));
    }
  }
}

const folded = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** A fence longer than any run of backticks inside, so that nothing inside can end it. */
function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function code(text: string): string {
  const ticks = '`'.repeat(longestTicks(text) + 1);
  const line = text.replaceAll('\n', ' ');
  return text.includes('`') ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

const longestTicks = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 0);
