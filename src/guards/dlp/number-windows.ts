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

/** All windows of 8 to 19 digits in at most 8 groups whose neighbours are no letters or digits. A text has at most 8 windows for each group. */
export function* findNumberWindows(text: string): Iterable<NumberWindow> {
  for (let at = 0; at < text.length; at++) {
    if (!isDigitCode(text.charCodeAt(at))) continue;
    const to = endOfDigits(text, at);
    if (to - at <= maxDigits && isStart(text, at)) yield* findWindowsFrom(text, at);
    at = to;
  }
}

/** The windows whose first group starts at a place. */
function* findWindowsFrom(text: string, first: number): Iterable<NumberWindow> {
  let digits = '';
  const lengths: number[] = [];
  let gap: string | undefined;
  for (let from = first; lengths.length < maxGroups;) {
    const to = endOfDigits(text, from);
    digits += text.slice(from, to);
    if (digits.length > maxDigits) return;
    lengths.push(to - from);
    if (digits.length >= 8 && isEnd(text, to, lengths.length > 1))
      yield { from: first, to, digits, groups: lengths.join('-') };
    const between = text.charAt(to);
    if (!separator.test(between) || !isDigitCode(text.charCodeAt(to + 1))) return;
    // Dates and some ids mix two separators; after the first group both are known.
    gap ??= between;
    if (between !== gap && !(gap === '.' && between === '-') && !(gap === '-' && between === '.')) return;
    from = to + 1;
  }
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;

/** Where the digits from a place on end. */
function endOfDigits(text: string, from: number): number {
  let to = from;
  while (isDigitCode(text.charCodeAt(to))) to += 1;
  return to;
}

/** Letters and digits of ASCII, which stand before most digits of a text such as `word17`. */
const isWordCode = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

/** No letter, digit or underscore before, and no number with a decimal point or a dash that it continues. */
const isStart = (text: string, at: number): boolean =>
  !isWordCode(text.charCodeAt(at - 1)) &&
  !/[\p{L}\p{N}_]$|[\p{L}\p{N}_][-.]$|[+]$/u.test(text.slice(Math.max(0, at - 2), at));

/** No letter, digit or underscore after; a number in groups may be followed by more text after a space. */
const isEnd = (text: string, at: number, isGrouped: boolean): boolean =>
  !(isGrouped ? /^[\p{L}\p{N}_]|^[-.][\p{N}]/u : /^[\p{L}\p{N}_]|^[-.][\p{L}\p{N}_]/u).test(text.slice(at, at + 3));

/** Whether one of the words is up to 48 characters before a range, or 16 after it. The pattern must be bounded and without a global flag. */
export const hasContext = (text: string, { from, to }: { from: number; to: number }, words: RegExp): boolean =>
  words.test(text.slice(Math.max(0, from - 48), from)) || words.test(text.slice(to, to + 16));
