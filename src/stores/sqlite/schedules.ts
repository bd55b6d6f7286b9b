// Runs that come by the clock: each time is fired once, whichever worker comes first.
import type { NewRun, Schedule } from '../../core/index.ts';
import { nextTime } from '../cron.ts';
import type { Base } from './base.ts';
import { addRun } from './runs.ts';

type Row = { readonly name: string; readonly cron: string; readonly run: string; readonly next: number };

/** The schedules that are set. */
export const readSchedules = (base: Base): readonly Schedule[] =>
  base
    .all<Row>('SELECT * FROM schedules ORDER BY name')
    .map(({ name, cron, run }) => ({ name, cron, run: JSON.parse(run) as Schedule['run'] }));

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
      addRun(base, { ...(JSON.parse(run) as NewRun), id });
      base.run('UPDATE schedules SET next = ? WHERE name = ?', nextTime(cron, now), name);
    }
  });
}
