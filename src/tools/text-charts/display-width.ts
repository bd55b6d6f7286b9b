// How many columns of a terminal a text takes, and texts made to take as many as there are.
import { escapeInvisibleLine } from '../../core/index.ts';

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Letters of East Asian scripts, full-width forms and pictures take two columns. */
const widePattern =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u;

/** The columns that a text takes. */
export const displayWidth = (text: string): number => {
  let columns = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) columns += widePattern.test(segment) ? 2 : 1;
  return columns;
};

/** A text on one line, in at most this many columns; one that is longer ends in a sign that says so. */
export function truncateToWidth(text: string, most: number): string {
  const line = escapeInvisibleLine(text);
  if (displayWidth(line) <= most) return line;
  let room = most - 1;
  let kept = '';
  for (const { segment } of graphemeSegmenter.segment(line)) {
    room -= widePattern.test(segment) ? 2 : 1;
    if (room < 0) break;
    kept += segment;
  }
  return most > 0 ? `${kept}…` : '';
}

/** A text in exactly this many columns, its words to the left or to the right. */
export function padToWidth(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const shown = truncateToWidth(text, columns);
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return side === 'left' ? shown + blanks : blanks + shown;
}

/** A number as people write it: no noise behind the point, and at most so many digits. */
export const formatFigure = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4)));
