// Recomputes dates: weekdays, days between dates, leap years and lengths of months. Dates that can be read in two ways are not decided.
import type { Claim, ClaimVerdict, TextSpan, Verifier } from '../types.ts';
import { isIndirect } from './assertion.ts';
import {
  dayNumber,
  daysOfMonth,
  findDates,
  firstYear,
  formatDate,
  isLeapYear,
  isRealDate,
  parseMonth,
  weekdayNames,
  weekdayOf,
  type WrittenDate,
} from './calendar.ts';
import { hasTraits, traits } from './claim-traits.ts';
import { isJoinedOnly } from './joined-text.ts';
import {
  computedEvidence,
  decideExactly,
  isReadable,
  negate,
  verifier,
  withoutCitations,
  type Truth,
} from './verifier.ts';

const name = 'dates';

type DateStatement = TextSpan & {
  readonly truth: Truth;
  readonly computation: string;
  /** Whether it may be contradicted inside a longer sentence. */
  readonly isFree: boolean;
};

/** The character that stands for the date of this index; a text that contains such private characters is not decided. */
const markOf = (index: number): string => String.fromCodePoint(0xf0000 + index);
const date = '([\\u{f0000}-\\u{f03ff}])';
const maxDates = 1000;
const weekdays = weekdayNames.join('|');

type Form = {
  readonly pattern: RegExp;
  readonly isFree?: boolean;
  readonly decide: (
    groups: readonly string[],
    day: (mark: string) => WrittenDate,
  ) => readonly [Truth, string] | undefined;
};

const toTruth = (holds: boolean): Truth => (holds ? 'true' : 'false');

function decideWeekday(day: WrittenDate, stated: string, isNegated: boolean): readonly [Truth, string] {
  const actual = weekdayNames[weekdayOf(day)] ?? '';
  const truth = toTruth(actual.toLowerCase() === stated.toLowerCase());
  return [isNegated ? negate(truth) : truth, `${formatDate(day)} is a ${actual}`];
}

/** Days between two dates: the difference; one more or less may be another way to count, and is not decided. */
function decideDistance(
  first: WrittenDate,
  second: WrittenDate,
  stated: number,
  isBetween: boolean,
): readonly [Truth, string] {
  const actual = Math.abs(dayNumber(second) - dayNumber(first));
  const computation = `${formatDate(second)} is ${actual} days from ${formatDate(first)}`;
  if (stated === actual) return ['true', computation];
  return [isBetween && Math.abs(stated - actual) === 1 ? 'undecided' : 'false', computation];
}

const toDays = (count: string, unit: string): number =>
  Number(count.replaceAll(',', '')) * (/^week/i.test(unit) ? 7 : 1);
const count = String.raw`(\d{1,3}(?:,\d{3})+|\d{1,7})`;
const be = '(?:is|was|will be|falls on|fell on|will fall on)';

const forms: readonly Form[] = [
  {
    pattern: new RegExp(
      String.raw`(?:\bthe\s+)?${date}\s+${be}(\s+not)?\s+(?:on\s+)?(?:an?\s+)?(${weekdays})\b`,
      'giu',
    ),
    decide: ([mark = '', not = '', stated = ''], day) => decideWeekday(day(mark), stated, not !== ''),
  },
  {
    pattern: new RegExp(String.raw`\b(${weekdays}),?\s+(?:the\s+)?${date}`, 'giu'),
    isFree: true,
    decide: ([stated = '', mark = ''], day) => {
      const [truth, computation] = decideWeekday(day(mark), stated, false);
      // A right weekday beside a date states nothing about the rest of the sentence.
      return truth === 'false' ? [truth, computation] : undefined;
    },
  },
  {
    pattern: new RegExp(
      String.raw`(?:there\s+(?:are|were)\s+(?:exactly\s+)?)${count}\s+(days?|weeks?)\s+(?:between|from)\s+${date}\s+(?:and|to|until)\s+${date}`,
      'giu',
    ),
    decide: ([number = '', unit = '', first = '', second = ''], day) =>
      decideDistance(day(first), day(second), toDays(number, unit), true),
  },
  {
    pattern: new RegExp(
      String.raw`(?:from\s+)?${date}\s+(?:to|until)\s+${date}\s+(?:is|are)\s+(?:exactly\s+)?${count}\s+(days?|weeks?)\b`,
      'giu',
    ),
    decide: ([first = '', second = '', number = '', unit = ''], day) =>
      decideDistance(day(first), day(second), toDays(number, unit), true),
  },
  {
    pattern: new RegExp(
      String.raw`${date}\s+(?:is|was)\s+(?:exactly\s+)?${count}\s+(days?|weeks?)\s+(before|after)\s+${date}`,
      'giu',
    ),
    decide: ([first = '', number = '', unit = '', side = '', second = ''], day) =>
      decideOrder(day(first), day(second), toDays(number, unit), side),
  },
  {
    pattern: new RegExp(
      String.raw`\b${count}\s+(days?|weeks?)\s+(before|after)\s+${date}\s+(?:is|was)\s+${date}`,
      'giu',
    ),
    decide: ([number = '', unit = '', side = '', second = '', first = ''], day) =>
      decideOrder(day(first), day(second), toDays(number, unit), side),
  },
  {
    pattern: new RegExp(
      String.raw`${date}\s+(plus|minus|\+|[-\u2212])\s+${count}\s+(days?|weeks?)\s+(?:is|was|=|equals)\s+${date}`,
      'giu',
    ),
    decide: ([second = '', sign = '', number = '', unit = '', first = ''], day) =>
      decideOrder(day(first), day(second), toDays(number, unit), /^(?:plus|\+)$/i.test(sign) ? 'after' : 'before'),
  },
  {
    pattern: new RegExp(String.raw`\bthe\s+day\s+(before|after)\s+${date}\s+(?:is|was)\s+${date}`, 'giu'),
    decide: ([side = '', second = '', first = ''], day) => decideOrder(day(first), day(second), 1, side),
  },
  {
    pattern: new RegExp(String.raw`${date}\s+(?:is|was)\s+day\s+(\d{1,3})\s+of\s+the\s+year\b`, 'giu'),
    decide: ([mark = '', stated = ''], day) => {
      const { year } = day(mark);
      const actual = dayNumber(day(mark)) - dayNumber({ year, month: 1, day: 1 }) + 1;
      return [toTruth(actual === Number(stated)), `${formatDate(day(mark))} is day ${actual} of its year`];
    },
  },
  {
    pattern: /\b(?:the\s+year\s+)?(\d{4})\s+(?:is|was|will be)(\s+not)?\s+a\s+leap\s+year\b/giu,
    isFree: true,
    decide: ([year = '', not = '']) => {
      if (Number(year) < firstYear) return undefined;
      const truth = toTruth(isLeapYear(Number(year)));
      return [not === '' ? truth : negate(truth), `${year} has ${isLeapYear(Number(year)) ? 366 : 365} days`];
    },
  },
  {
    pattern: /\b([a-z]{3,9})(?:\s+(\d{4}))?\s+(?:has|had)\s+(?:exactly\s+)?(\d{1,3})\s+days\b/giu,
    decide: ([monthName = '', year = '', number = '']) => decideMonth(monthName, year, Number(number)),
  },
];

/** A text without one of these has none of the forms. */
const formWords = /day|week|leap/iu;

function decideOrder(first: WrittenDate, second: WrittenDate, days: number, side: string): readonly [Truth, string] {
  const actual = dayNumber(first) - dayNumber(second);
  const computation = `${formatDate(first)} is ${Math.abs(actual)} days ${actual < 0 ? 'before' : 'after'} ${formatDate(second)}`;
  return [toTruth(actual === (side.toLowerCase() === 'before' ? -days : days)), computation];
}

function decideMonth(monthName: string, year: string, stated: number): readonly [Truth, string] | undefined {
  const month = /^(?:january|february|march|april|may|june|july|august|september|october|november|december)$/i.test(
    monthName,
  )
    ? parseMonth(monthName)
    : 0;
  if (month === 0 || (year !== '' && Number(year) < firstYear)) return undefined;
  // February without a year has 28 or 29 days.
  if (month === 2 && year === '')
    return stated === 28 || stated === 29 ? undefined : ['false', 'February has 28 or 29 days'];
  const days = daysOfMonth(Number(year === '' ? 2001 : year), month);
  return [toTruth(days === stated), `${monthName} ${year} has ${days} days`.replace('  ', ' ')];
}

function readStatements(text: string): readonly DateStatement[] {
  const { dates } = findDates(text);
  if (dates.length > maxDates || /[\u{f0000}-\u{f03ff}]/u.test(text)) return [];
  const { marked, toOriginal } = markDates(text, dates);
  const statements: DateStatement[] = [];
  for (const { pattern, decide, isFree = false } of formWords.test(text) ? forms : [])
    for (const match of marked.matchAll(pattern)) {
      const marks = match.slice(1).map((group) => group ?? '');
      const used = marks.flatMap((mark) => dates[(mark.codePointAt(0) ?? 0) - 0xf0000] ?? []);
      if (!used.every(isRealDate)) continue;
      const decided = decide(marks, (mark) => dates[(mark.codePointAt(0) ?? 0) - 0xf0000] as WrittenDate);
      if (!decided) continue;
      const [truth, computation] = decided;
      const [start, end] = [toOriginal(match.index), toOriginal(match.index + match[0].length)];
      statements.push({ start, end, truth, computation, isFree });
    }
  for (const written of dates)
    if (!isRealDate(written)) {
      const computation = `${formatDate(written)} is no day of the calendar`;
      statements.push({ start: written.start, end: written.end, truth: 'false', computation, isFree: true });
    }
  return statements.toSorted((a, b) => a.start - b.start);
}

/** Replaces each date by one private character, so that a pattern sees dates of any spelling alike. */
function markDates(
  text: string,
  dates: readonly WrittenDate[],
): { readonly marked: string; readonly toOriginal: (at: number) => number } {
  let marked = '';
  let end = 0;
  const shifts: { readonly at: number; readonly shift: number }[] = [];
  for (const [index, written] of dates.entries()) {
    marked += text.slice(end, written.start) + markOf(index);
    end = written.end;
    shifts.push({ at: marked.length, shift: end - marked.length });
  }
  const toOriginal = (at: number): number => at + (shifts.findLast((each) => each.at <= at)?.shift ?? 0);
  return { marked: marked + text.slice(end), toOriginal };
}

function verifyDates(claim: Claim): ClaimVerdict | undefined {
  const text = withoutCitations(claim.text);
  const statements = readStatements(text);
  if (statements.length === 0) return undefined;
  const isAllOfIt = isJoinedOnly(text, statements);
  if (isAllOfIt && statements.every(({ truth }) => truth === 'true')) return decide('supported', statements);
  const wrong = statements.filter(({ truth, isFree }) => truth === 'false' && (isFree || isAllOfIt));
  const rest = statements.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  return wrong.length > 0 && !isIndirect(rest) ? decide('contradicted', wrong) : undefined;
}

function decide(type: 'supported' | 'contradicted', statements: readonly DateStatement[]): ClaimVerdict {
  const computed = statements.map(({ computation }) => computation).join('\n');
  const why = `By the Gregorian calendar: ${computed.replaceAll('\n', '; ')}.`;
  return decideExactly(type, name, [computedEvidence(name, computed)], why);
}

/** Recomputes weekdays, days between dates, leap years and lengths of months from the year 1753 on. */
export const dateVerifier: Verifier = verifier({
  name,
  handles: (claim) =>
    isReadable(claim) && hasTraits(claim.text, traits.digit) && /\d{4}|\b\d\d days\b/.test(claim.text),
  verify: verifyDates,
});
