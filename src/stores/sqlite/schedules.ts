// Runs that come by the clock: each time is fired once, whichever worker comes first.
import type { Schedule } from '../../core/index.ts';
import { nextCronTime } from '../cron.ts';
import { damagedOutcome } from '../run-row.ts';
import { nextScheduledTime, parseScheduledRun, unreadableRun } from '../schedule-row.ts';
import type { SqliteContext } from './context.ts';
import { addRun, endRun, findRun } from './runs.ts';

type ScheduleRow = { readonly name: string; readonly cron: string; readonly run: string; readonly next: number };

/** The schedules that are set. */
export const readSchedules = (base: SqliteContext): readonly Schedule[] =>
  base
    .all<ScheduleRow>('SELECT * FROM schedules ORDER BY name')
    .map(({ name, cron, run }) => ({ name, cron, run: parseScheduledRun(run) ?? unreadableRun }));

/** Sets a schedule, or takes it away. */
export async function setSchedule(
  base: SqliteContext,
  schedule: Schedule | { readonly name: string; readonly cron?: undefined },
): Promise<void> {
  const { name } = schedule;
  if (schedule.cron === undefined) {
    await base.write(() => void base.run('DELETE FROM schedules WHERE name = ?', name));
    return;
  }
  const { cron, run } = schedule;
  const next = nextCronTime(cron, Date.now());
  const sql = `INSERT INTO schedules (name, cron, run, next) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET cron = ?2, run = ?3, next = CASE cron WHEN ?2 THEN next ELSE ?4 END`;
  await base.write(() => void base.run(sql, name, cron, JSON.stringify(run), next));
}

/** Queues what has fallen due. Times that were missed while nobody worked are made up for by one run. */
export async function enqueueDueSqliteSchedules(base: SqliteContext): Promise<void> {
  const sql = 'SELECT * FROM schedules WHERE next <= ?';
  if (base.read(() => base.one(sql, Date.now())) === undefined) return;
  await base.write(() => {
    const now = Date.now();
    for (const { name, cron, run, next } of base.all<ScheduleRow>(sql, now)) {
      const id = `${name}@${new Date(next).toISOString()}`;
      const given = parseScheduledRun(run);
      const { status } = addRun(base, { ...(given ?? unreadableRun), id });
      const row = given || status !== 'queued' ? undefined : findRun(base, id);
      if (row) endRun(base, row, damagedOutcome(`What the schedule ${name} is to run cannot be read.`));
      base.run('UPDATE schedules SET next = ? WHERE name = ?', nextScheduledTime(cron, now), name);
    }
  });
}
