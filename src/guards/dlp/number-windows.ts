// Finds numbers in a text that are written in one piece or in groups with one kind of separator, such as `4111 1111 1111 1111`.

/** A number as it is written. */
export type NumberWindow = {
  readonly from: number;
  readonly to: number;
  readonly digits: string;
  /** The lengths of the groups, such as `4-4-4-4`; a number in one piece has one. */
  readonly groups: string;
};

/** Decides whether a number is of one kind. */
export type NumberDetector = {
  readonly kind: string;
  readonly matches: (window: NumberWindow, text: string) => boolean;
};

/** Spaces and dashes of any kind, and dots. */
const separator = /[ \u00a0\u2007\u2009\u202f.\u2010-\u2015\u2212/-]/;
const maxDigits = 19;
const maxGroups = 8;

type Group = { readonly from: number; readonly to: number };

/** All windows of 8 to 19 digits in at most 8 groups whose neighbours are no letters or digits. A text has at most 8 windows for each group. */
export function* findNumberWindows(text: string): Iterable<NumberWindow> {
  const groups: Group[] = [];
  for (const { 0: digits, index } of text.matchAll(/\d+/g)) groups.push({ from: index, to: index + digits.length });
  for (const [i, first] of groups.entries()) {
    if (first.to - first.from > maxDigits || !isStart(text, first.from)) continue;
    let digits = '';
    const lengths: number[] = [];
    let gap: string | undefined;
    for (let j = i; j < groups.length && lengths.length < maxGroups; j++) {
      const group = groups[j];
      if (group === undefined) break;
      const previous = groups[j - 1];
      if (j > i && previous) {
        const between = text.slice(previous.to, Math.min(group.from, previous.to + 2));
        if (between.length !== 1 || !separator.test(between)) break;
        // Dates and some ids mix two separators; after the first group both are known.
        gap ??= between;
        if (between !== gap && !(gap === '.' && between === '-') && !(gap === '-' && between === '.')) break;
      }
      digits += text.slice(group.from, group.to);
      if (digits.length > maxDigits) break;
      lengths.push(group.to - group.from);
      if (digits.length >= 8 && isEnd(text, group.to, lengths.length > 1))
        yield { from: first.from, to: group.to, digits, groups: lengths.join('-') };
    }
  }
}

/** No letter, digit or underscore before, and no number with a decimal point or a dash that it continues. */
const isStart = (text: string, at: number): boolean =>
  !/[\p{L}\p{N}_]$|[\p{L}\p{N}_][-.]$|[+]$/u.test(text.slice(Math.max(0, at - 2), at));

/** No letter, digit or underscore after; a number in groups may be followed by more text after a space. */
const isEnd = (text: string, at: number, isGrouped: boolean): boolean =>
  !(isGrouped ? /^[\p{L}\p{N}_]|^[-.][\p{N}]/u : /^[\p{L}\p{N}_]|^[-.][\p{L}\p{N}_]/u).test(text.slice(at, at + 3));

/** Whether one of the words is up to 48 characters before a range, or 16 after it. The pattern must be bounded and without a global flag. */
export const hasContext = (text: string, { from, to }: { from: number; to: number }, words: RegExp): boolean =>
  words.test(text.slice(Math.max(0, from - 48), from)) || words.test(text.slice(to, to + 16));
