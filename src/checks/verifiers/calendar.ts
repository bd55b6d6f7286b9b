// Days of the Gregorian calendar: reads dates as they are written, and counts days and weekdays.

/** A day of the Gregorian calendar, and where a text writes it. */
export type WrittenDate = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly start: number;
  readonly end: number;
};

const monthNames = 'january february march april may june july august september october november december'.split(' ');

/** The weekdays in English, from Sunday. */
export const weekdayNames: readonly string[] = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The first year whose dates are decided: before it, countries used different calendars. */
export const firstYear = 1753;
const lastYear = 9999;

const month = (group: string): string =>
  String.raw`(?<${group}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`;

const datePattern = new RegExp(
  [
    String.raw`(?<![\d./-])(?<isoYear>\d{4})(?<isoMark>[-/])(?<isoMonth>\d{1,2})\k<isoMark>(?<isoDay>\d{1,2})(?![-/\d])`,
    String.raw`(?<![\d.])(?<day>\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+${month('month')},?\s+(?<year>\d{4})(?!\d)`,
    String.raw`\b${month('usMonth')}\s+(?<usDay>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<usYear>\d{4})(?!\d)`,
    String.raw`(?<![\d./-])(?<first>\d{1,2})(?<mark>[/.])(?<second>\d{1,2})\k<mark>(?<lastYear>\d{4})(?![/\d])`,
  ].join('|'),
  'gi',
);

const toMonth = (name: string): number =>
  monthNames.findIndex((each) => each.startsWith(name.slice(0, 3).toLowerCase())) + 1;

/** Returns the month of a name or its first three letters; 0 if it is none. */
export const parseMonth = (name: string): number => (name.length < 3 ? 0 : toMonth(name));

/** A date that could be read in two ways, such as 03/04/2026, or of a year that is not decided. */
export type UndecidedDate = { readonly start: number; readonly end: number };

/** Returns the dates of a text in order. */
export function findDates(text: string): {
  readonly dates: readonly WrittenDate[];
  readonly undecided: readonly UndecidedDate[];
} {
  const dates: WrittenDate[] = [];
  const undecided: UndecidedDate[] = [];
  for (const match of text.matchAll(datePattern)) {
    const place = { start: match.index, end: match.index + match[0].length };
    const parts = readParts(match);
    if (!parts || parts.year < firstYear || parts.year > lastYear) undecided.push(place);
    else dates.push({ ...parts, ...place });
  }
  return { dates, undecided };
}

type DateParts = Pick<WrittenDate, 'year' | 'month' | 'day'>;

function readParts({ groups = {} }: RegExpMatchArray): DateParts | undefined {
  const toDate = (year = '', monthNumber = 0, day = ''): DateParts => ({
    year: Number(year),
    month: monthNumber,
    day: Number(day),
  });
  const { isoYear, isoMonth, isoDay, day, month: name = '', year, usDay, usMonth = '', usYear } = groups;
  if (isoYear !== undefined) return toDate(isoYear, Number(isoMonth), isoDay);
  if (day !== undefined) return toDate(year, toMonth(name), day);
  if (usDay !== undefined) return toDate(usYear, toMonth(usMonth), usDay);
  return readNumeric(Number(groups['first']), Number(groups['second']), Number(groups['lastYear']));
}

/** A date such as 17/11/2026: decided only if one of the two numbers cannot be a month, or both are equal. */
function readNumeric(first: number, second: number, year: number): DateParts | undefined {
  if (first === second) return { year, month: first, day: second };
  if (first > 12 && second <= 12) return { year, month: second, day: first };
  if (second > 12 && first <= 12) return { year, month: first, day: second };
  return undefined;
}

/** Whether a year has 366 days. */
export const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

/** The number of days of a month. */
export const daysOfMonth = (year: number, monthNumber: number): number =>
  monthNumber === 2 ? (isLeapYear(year) ? 29 : 28) : [4, 6, 9, 11].includes(monthNumber) ? 30 : 31;

/** Whether a day exists. */
export const isRealDate = ({ year, month: monthNumber, day }: DateParts): boolean =>
  monthNumber >= 1 && monthNumber <= 12 && day >= 1 && day <= daysOfMonth(year, monthNumber);

/** The number of a day, counted from 1970-01-01. */
export const dayNumber = ({ year, month: monthNumber, day }: DateParts): number =>
  Math.round(Date.UTC(year, monthNumber - 1, day) / 86_400_000);

/** The weekday of a day, 0 for Sunday. */
export const weekdayOf = (date: DateParts): number => (((dayNumber(date) + 4) % 7) + 7) % 7;

/** Formats a day as 2026-11-17. */
export const formatDate = ({ year, month: monthNumber, day }: DateParts): string =>
  `${year}-${String(monthNumber).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
