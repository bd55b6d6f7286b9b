// Cron schedules of a store: parses their rows and decides which run is due. A row that cannot be read is queued once, as a run that fails.
import { isObject, type NewRun, type RunOutcome, type RunQueue, type Schedule } from '../core/index.ts';
import { nextCronTime } from './cron.ts';
import { damagedOutcome } from './run-row.ts';
import { tryParseJson } from './try-parse-json.ts';

/** A schedule in the database: `run` is JSON, `next` the time at which it is due, in milliseconds. */
export type ScheduleRow = {
  readonly name: string;
  readonly cron: string;
  readonly run: string;
  readonly next: number;
};

/** The statements of a store on its table of schedules. */
export type ScheduleTable = {
  /** All schedules, by name. */
  list(): Promise<readonly ScheduleRow[]>;
  /** Inserts or replaces a schedule; `next` stays as it is if the cron expression does. */
  save(row: ScheduleRow): Promise<unknown>;
  remove(name: string): Promise<unknown>;
};

/** Lists and sets schedules on a table. */
export const createSchedules = (table: ScheduleTable): Pick<RunQueue, 'schedules' | 'setSchedule'> => ({
  async schedules() {
    return (await table.list()).map(({ name, cron, run }) => ({
      name,
      cron,
      run: parseScheduledRun(run) ?? unreadableRun,
    }));
  },
  async setSchedule(schedule) {
    const { name, cron } = schedule;
    if (cron === undefined) await table.remove(name);
    else await table.save({ name, cron, run: formatScheduledRun(schedule.run), next: nextCronTime(cron, Date.now()) });
  },
});

/** The run that a due schedule queues. */
export type DueRun = {
  /** Its id names the due time, so that two workers, or a worker after a crash, queue it once. */
  readonly run: NewRun & { readonly id: string };
  /** The outcome with which the run ends at once, if the row cannot be read. */
  readonly damage: RunOutcome | undefined;
  /** When the schedule is due again, in milliseconds. Times that were missed before `now` are skipped: one run stands for them. */
  readonly next: number;
};

/** What a due schedule queues, and when it is due again. */
export function toDueRun({ name, cron, run, next }: ScheduleRow, now: number): DueRun {
  const parsed = parseScheduledRun(run);
  return {
    run: { ...(parsed ?? unreadableRun), id: `${name}@${new Date(next).toISOString()}` },
    damage: parsed ? undefined : damagedOutcome(`The run of the schedule ${name} cannot be read.`),
    next: nextScheduledTime(cron, Math.max(next, now)),
  };
}

/** The last time that a Date can hold. */
const neverMs = 8.64e15;

/** Stands for a run that cannot be read: it is never started, only ended. */
const unreadableRun: Schedule['run'] = {
  prompt: 'This scheduled run cannot be read.',
  notBefore: new Date(neverMs).toISOString(),
};

const textFields = ['kind', 'session', 'tenant', 'parent', 'notBefore'] as const;

/** The JSON of a run in a row: `prompt` is stored as `words`. */
const formatScheduledRun = ({ prompt, ...run }: Schedule['run']): string => JSON.stringify({ words: prompt, ...run });

function parseScheduledRun(text: string): Schedule['run'] | undefined {
  const run = tryParseJson(text);
  if (!isObject(run) || typeof run['words'] !== 'string') return undefined;
  const { words: prompt, ...fields } = run;
  const { priority = 0, settings = {}, notBefore = unreadableRun.notBefore } = run;
  const isText = textFields.every((name) => run[name] === undefined || typeof run[name] === 'string');
  const isTime = !Number.isNaN(Date.parse(String(notBefore)));
  return isText && isTime && typeof priority === 'number' && isObject(settings) ? { prompt, ...fields } : undefined;
}

function nextScheduledTime(cron: string, after: number): number {
  try {
    return nextCronTime(cron, after);
  } catch {
    return neverMs;
  }
}
