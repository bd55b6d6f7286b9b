// Splits Markdown at its headings: the title of a passage is the path of headings above it.
import type { Passage } from '../types.ts';
import { splitLines } from './split-text.ts';

/** Max characters of a heading that is read; the rest of a longer line is text. */
const maxHeadingChars = 300;

/** Splits Markdown into one passage per section, or several if a section is long. A `#` in a code fence is no heading. */
export function splitMarkdown(text: string): readonly Passage[] {
  const lines = text.split('\n');
  const passages: Passage[] = [];
  const path: string[] = [];
  let from = 0;
  let fence: string | undefined;
  const flush = (to: number, nextLevel = 0): void => {
    // A heading whose text is in its subsections only is in their titles.
    const isHeadingOnly =
      path.length > 0 &&
      nextLevel > path.length &&
      lines.slice(from + 1, to).every((line) => /^\s*(?:=*|-*)$/.test(line));
    if (to > from && !isHeadingOnly)
      passages.push(...splitLines(lines, { from, to }, path.filter(Boolean).join(' > ')));
  };
  for (const [at, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line.slice(0, maxHeadingChars))?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined) continue;
    const heading = parseHeading(line, at) ?? parseUnderlined(lines, at);
    if (!heading) continue;
    flush(heading.from, heading.level);
    path.length = Math.min(path.length, heading.level - 1);
    while (path.length < heading.level - 1) path.push('');
    path.push(heading.title);
    from = heading.from;
  }
  flush(lines.length);
  return passages;
}

function parseHeading(line: string, at: number): Heading | undefined {
  const level = /^ {0,3}(#{1,6})(?=\s|$)/.exec(line)?.[1]?.length;
  if (level === undefined || line.length > maxHeadingChars) return undefined;
  return { level, title: cleanTitle(line.trim().slice(level)), from: at };
}

type Heading = { readonly level: number; readonly title: string; readonly from: number };

const cleanTitle = (text: string): string => {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === '#') end -= 1;
  return trimmed.slice(0, end).trim();
};

/** A line of text above a line of `===` or `---`. */
function parseUnderlined(lines: readonly string[], at: number): Heading | undefined {
  const line = (lines[at] ?? '').trimEnd();
  if (line.length < 3 || line.length > maxHeadingChars || !/^(?:=+|-+)$/.test(line)) return undefined;
  const above = lines[at - 1]?.trim() ?? '';
  if (above === '' || above.length > maxHeadingChars || /^[#>|*+-]/.test(above)) return undefined;
  return { level: line.startsWith('=') ? 1 : 2, title: above, from: at - 1 };
}
