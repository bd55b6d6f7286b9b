// Cron expressions of five fields in UTC: minute, hour, day of the month, month, day of the week.
import { FairleadError } from '../core/index.ts';

type CronField = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly CronField[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: months },
  { name: 'day of the week', from: 0, to: 7, names: days },
];

const minuteMs = 60_000;
/** The next 29th of February is at most eight years away. */
const horizonMs = 9 * 366 * 24 * 60 * minuteMs;

/** The first time after another at which an expression is due, in milliseconds. Throws if the expression is not valid or never due. */
export function nextCronTime(cron: string, after: number): number {
  const parts = cron.trim().split(/\s+/);
  if (parts.length !== fields.length) throw badCronError(cron, `it has ${parts.length} fields, not five`);
  const sets = fields.map((field, i) => parseCronField(cron, field, parts[i] ?? ''));
  const isDay = createDayMatcher(sets, parts);
  const has = (i: number, value: number): boolean => sets[i]?.has(value) === true;
  const time = new Date(Math.floor(after / minuteMs) * minuteMs + minuteMs);
  while (time.getTime() < after + horizonMs) {
    const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
    if (!has(3, month + 1)) time.setTime(Date.UTC(year, month + 1));
    else if (!isDay(time)) time.setTime(Date.UTC(year, month, day + 1));
    else if (!has(1, time.getUTCHours())) time.setUTCHours(time.getUTCHours() + 1, 0);
    else if (!has(0, time.getUTCMinutes())) time.setUTCMinutes(time.getUTCMinutes() + 1);
    else return time.getTime();
  }
  throw badCronError(cron, 'there is no such day');
}

/** If both kinds of day are restricted, either one matches, as in cron. */
function createDayMatcher(sets: readonly ReadonlySet<number>[], parts: readonly string[]): (time: Date) => boolean {
  const [, , ofMonth, , ofWeek] = sets;
  const matchesEither = !parts[2]?.startsWith('*') && !parts[4]?.startsWith('*');
  return (time) => {
    const matchesMonth = ofMonth?.has(time.getUTCDate()) === true;
    const matchesWeek = ofWeek?.has(time.getUTCDay()) === true;
    return matchesEither ? matchesMonth || matchesWeek : matchesMonth && matchesWeek;
  };
}

function parseCronField(cron: string, field: CronField, text: string): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:\*|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/([0-9]+))?$/i.exec(part);
    const [, low, high, step] = match ?? [];
    const from = low === undefined ? field.from : parseCronValue(field, low);
    const to =
      high === undefined ? (low === undefined || step !== undefined ? field.to : from) : parseCronValue(field, high);
    const increment = step === undefined ? 1 : Number(step);
    const isValid = match && from >= field.from && to <= field.to && from <= to && increment > 0;
    if (!isValid) throw badCronError(cron, `"${part}" is not a ${field.name}`);
    for (let value = from; value <= to; value += increment) values.add(field.to === 7 ? value % 7 : value);
  }
  return values;
}

function parseCronValue({ from, names }: CronField, text: string): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + from;
  return /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
}

const badCronError = (cron: string, reason: string): FairleadError =>
  new FairleadError('queue/bad-cron', `"${cron}" is not a valid schedule: ${reason}.`, {
    blame: 'user',
    hint: 'Write five fields, for example "30 6 * * 1-5": minute, hour, day of the month, month, day of the week, in UTC.',
  });
