// Measures the terminal columns of a text, and truncates or pads texts to a width.
import { escapeInvisibleLine } from '../../core/index.ts';

let segmenter: Intl.Segmenter | undefined;
/** Printable ASCII: one column for each character. */
const plainPattern = /^[\x20-\x7e]*$/;

/** Splits a text into characters as a reader counts them. A segmenter loads data for 30 ms, so it is created for the first text that needs it. */
function splitGraphemes(text: string): Iterable<string> {
  if (plainPattern.test(text)) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** East Asian characters, full-width forms and emoji take two columns. */
const widePattern =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;

/** Returns the number of columns of a text. */
export const displayWidth = (text: string): number => {
  let columns = 0;
  for (const segment of splitGraphemes(text)) columns += widePattern.test(segment) ? 2 : 1;
  return columns;
};

/** Truncates a text to one line of this many columns, with an ellipsis. */
export function truncateToWidth(text: string, maxWidth: number): string {
  const line = escapeInvisibleLine(text);
  if (displayWidth(line) <= maxWidth) return line;
  let remainingWidth = maxWidth - 1;
  let truncated = '';
  for (const segment of splitGraphemes(line)) {
    remainingWidth -= widePattern.test(segment) ? 2 : 1;
    if (remainingWidth < 0) break;
    truncated += segment;
  }
  return maxWidth > 0 ? `${truncated}…` : '';
}

/** Splits a text into lines of at most this many columns; invisible characters are escaped. */
export function wrapToWidth(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const segment of splitGraphemes(escapeInvisibleLine(text))) {
    const segmentWidth = widePattern.test(segment) ? 2 : 1;
    if (line !== '' && width + segmentWidth > columns) {
      lines.push(line);
      line = '';
      width = 0;
    }
    line += segment;
    width += segmentWidth;
  }
  return [...lines, line];
}

/** Pads or truncates a text to exactly this many columns, aligned left or right. */
export function padToWidth(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const shown = truncateToWidth(text, columns);
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return side === 'left' ? shown + blanks : blanks + shown;
}

/** Formats a number with a limited number of digits. */
export const formatFigure = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4)));
