// Runs that come by the clock: each time is fired once, whichever worker comes first.
import type { Schedule } from '../../core/index.ts';
import { nextTime } from '../cron.ts';
import { setAside } from '../run-row.ts';
import { comesAgain, scheduledIn, unreadable } from '../schedule-row.ts';
import type { Base } from './base.ts';
import { addRun, endRun, findRun } from './runs.ts';

type Row = { readonly name: string; readonly cron: string; readonly run: string; readonly next: number };

/** The schedules that are set. */
export const readSchedules = (base: Base): readonly Schedule[] =>
  base
    .all<Row>('SELECT * FROM schedules ORDER BY name')
    .map(({ name, cron, run }) => ({ name, cron, run: scheduledIn(run) ?? unreadable }));

/** Sets a schedule, or takes it away. */
export async function setSchedule(
  base: Base,
  schedule: Schedule | { readonly name: string; readonly cron?: undefined },
): Promise<void> {
  const { name } = schedule;
  if (schedule.cron === undefined) {
    await base.write(() => void base.run('DELETE FROM schedules WHERE name = ?', name));
    return;
  }
  const { cron, run } = schedule;
  const next = nextTime(cron, Date.now());
  const sql = `INSERT INTO schedules (name, cron, run, next) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET cron = ?2, run = ?3, next = CASE cron WHEN ?2 THEN next ELSE ?4 END`;
  await base.write(() => void base.run(sql, name, cron, JSON.stringify(run), next));
}

/** Queues what has fallen due. Times that were missed while nobody worked are made up for by one run. */
export async function fireDue(base: Base): Promise<void> {
  const sql = 'SELECT * FROM schedules WHERE next <= ?';
  if (base.read(() => base.one(sql, Date.now())) === undefined) return;
  await base.write(() => {
    const now = Date.now();
    for (const { name, cron, run, next } of base.all<Row>(sql, now)) {
      const id = `${name}@${new Date(next).toISOString()}`;
      const given = scheduledIn(run);
      const { status } = addRun(base, { ...(given ?? unreadable), id });
      const row = given || status !== 'queued' ? undefined : findRun(base, id);
      if (row) endRun(base, row, setAside(`What the schedule ${name} is to run cannot be read.`));
      base.run('UPDATE schedules SET next = ? WHERE name = ?', comesAgain(cron, now), name);
    }
  });
}
