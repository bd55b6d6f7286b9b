// Splits plain text into passages at empty lines, with the lines of each passage.
import type { Passage } from '../types.ts';

/** Max characters of a passage: a few paragraphs, which fit the input of small embedding models. */
export const maxPassageChars = 2000;

/** A range of lines: `from` inclusive, `to` exclusive, from 0. */
type LineRange = { readonly from: number; readonly to: number };

/** Splits a text into passages of at most `maxPassageChars` characters. */
export const splitText = (text: string, title = ''): readonly Passage[] => {
  const lines = text.split('\n');
  return splitLines(lines, { from: 0, to: lines.length }, title);
};

/** Splits a range of lines into passages: at an empty line if there is one in the second half, at a line end otherwise, inside a line only if the line is too long. */
export function splitLines(lines: readonly string[], range: LineRange, title: string): readonly Passage[] {
  const passages: Passage[] = [];
  const add = (first: number, end: number): void => {
    let [from, to] = [first, end];
    while (from < to && isBlank(lines[from])) from += 1;
    while (to > from && isBlank(lines[to - 1])) to -= 1;
    if (from < to) passages.push({ title, text: lines.slice(from, to).join('\n'), lines: [from + 1, to] });
  };
  let from = range.from;
  let chars = 0;
  let lastBlank = -1;
  for (let at = range.from; at < range.to; at += 1) {
    const line = lines[at] ?? '';
    if (line.length > maxPassageChars) {
      add(from, at);
      for (const part of splitLongLine(line)) passages.push({ title, text: part, lines: [at + 1, at + 1] });
      [from, chars, lastBlank] = [at + 1, 0, -1];
      continue;
    }
    if (chars + line.length + 1 > maxPassageChars && at > from) {
      const end = lastBlank > from + (at - from) / 2 ? lastBlank : at;
      add(from, end);
      from = end;
      chars = 0;
      for (let i = end; i < at; i += 1) chars += (lines[i]?.length ?? 0) + 1;
      lastBlank = -1;
    }
    if (isBlank(line)) lastBlank = at;
    chars += line.length + 1;
  }
  add(from, range.to);
  return passages;
}

/** Splits a line at spaces where possible, and never inside a surrogate pair. */
function splitLongLine(line: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < line.length;) {
    let end = Math.min(line.length, at + maxPassageChars);
    if (end < line.length) {
      // Only the second half is searched: a search to the beginning of the line would take quadratic time.
      const half = at + maxPassageChars / 2;
      const space = line.slice(half, end).lastIndexOf(' ');
      if (space >= 0) end = half + space;
      else if (isLowSurrogate(line.charCodeAt(end))) end -= 1;
    }
    const part = line.slice(at, end).trim();
    if (part !== '') parts.push(part);
    at = end;
  }
  return parts;
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';
