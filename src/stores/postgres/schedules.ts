// Runs that come by the clock: each time is fired once, whichever worker comes first.
import type { Schedule } from '../../core/index.ts';
import { nextCronTime } from '../cron.ts';
import { damagedOutcome } from '../run-row.ts';
import { nextScheduledTime, parseScheduledRun, unreadableRun } from '../schedule-row.ts';
import type { PostgresContext } from './context.ts';
import { createEnqueuer } from './runs.ts';

type ScheduleRow = { readonly name: string; readonly cron: string; readonly run: string; readonly next: number };

/** The schedules that are set. */
export async function readSchedules({ db }: PostgresContext): Promise<readonly Schedule[]> {
  const rows = await db.all<ScheduleRow>('SELECT name, cron, run, next FROM fairlead.schedules ORDER BY name');
  return rows.map(({ name, cron, run }) => ({ name, cron, run: parseScheduledRun(run) ?? unreadableRun }));
}

/** Sets a schedule, or takes it away. */
export async function setSchedule(
  { db }: PostgresContext,
  schedule: Schedule | { readonly name: string; readonly cron?: undefined },
): Promise<void> {
  const { name } = schedule;
  if (schedule.cron === undefined) {
    await db.all('DELETE FROM fairlead.schedules WHERE name = $1', [name]);
    return;
  }
  const { cron, run } = schedule;
  const sql = `INSERT INTO fairlead.schedules AS old (name, cron, run, next) VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE SET cron = $2, run = $3, next = CASE old.cron WHEN $2 THEN old.next ELSE $4 END`;
  await db.all(sql, [name, cron, JSON.stringify(run), nextCronTime(cron, Date.now())]);
}

const endRunSql = `
SELECT fairlead.end_run(run, $2, 'provider-error', 0, 0) FROM fairlead.runs AS run WHERE id = $1 AND status = 'queued'`;

/** Queues what has fallen due. Times that were missed while nobody worked are made up for by one run. */
export async function enqueueDuePostgresSchedules(base: PostgresContext): Promise<void> {
  const due = 'SELECT name, cron, run, next FROM fairlead.schedules WHERE next <= fairlead.now_ms()';
  for (const { name, cron, run, next } of await base.db.all<ScheduleRow>(due)) {
    // The id names the time: whoever comes second, or comes again after a crash, adds the run that is there.
    const id = `${name}@${new Date(next).toISOString()}`;
    const given = parseScheduledRun(run);
    await createEnqueuer(base)([{ ...(given ?? unreadableRun), id }]);
    const said = JSON.stringify(damagedOutcome(`What the schedule ${name} is to run cannot be read.`));
    if (!given) await base.db.all(endRunSql, [id, said]);
    const sql = 'UPDATE fairlead.schedules SET next = $3 WHERE name = $1 AND next = $2';
    await base.db.all(sql, [name, next, nextScheduledTime(cron, Math.max(next, Date.now()))]);
  }
}
