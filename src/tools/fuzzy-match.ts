// Finds the part of a text most similar to a search text, so that a failed edit can be corrected without reading the complete file.
import { escapeInvisible } from '../core/index.ts';

/** A range of lines, counted from 1. */
export type TextRegion = { readonly from: number; readonly to: number; readonly text: string };

const maxComparisons = 1_000_000;
/** Max characters of a text that is searched. */
const maxTextChars = 2_000_000;
/** Max characters of a line that are compared. */
const maxLineChars = 100;
const maxShownChars = 4000;

/** Returns the most similar lines; undefined if no line is similar. */
export function findSimilarRegion(text: string, searchText: string): TextRegion | undefined {
  if (text.length > maxTextChars || searchText.length > maxTextChars) return undefined;
  const lines = text.split('\n');
  const searchLines = searchText.split('\n').map(comparedPart);
  while (searchLines.length > 1 && searchLines[0] === '') searchLines.shift();
  while (searchLines.length > 1 && searchLines.at(-1) === '') searchLines.pop();
  // Only the start of long texts is compared, to limit time.
  const comparedLines = searchLines.slice(0, Math.max(1, Math.floor(maxComparisons / Math.max(1, lines.length))));
  const trimmed = lines.map(comparedPart);
  let bestScore = 0;
  let bestStart = -1;
  for (let start = 0; start < lines.length; start++) {
    let score = 0;
    for (let i = 0; i < comparedLines.length; i++)
      score += lineSimilarity(trimmed[start + i] ?? '', comparedLines[i] ?? '');
    if (score > bestScore) {
      bestScore = score;
      bestStart = start;
    }
  }
  if (bestStart < 0 || bestScore < comparedLines.length / 4) return undefined;
  const from = Math.max(0, bestStart - 1);
  const to = Math.min(lines.length, bestStart + searchLines.length + 1);
  const shown = escapeInvisible(lines.slice(from, to).join('\n'));
  return { from: from + 1, to, text: shown.length > maxShownChars ? `${shown.slice(0, maxShownChars)}…` : shown };
}

const comparedPart = (line: string): string => line.trim().slice(0, maxLineChars);

/** Returns the similarity of two lines from 0 to 1, by common prefix and suffix. */
function lineSimilarity(a: string, b: string): number {
  if (a === b) return a === '' ? 0.1 : 1;
  const shorter = Math.min(a.length, b.length);
  if (shorter === 0) return 0;
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return (0.9 * (head + tail)) / Math.max(a.length, b.length);
}
