// Cron schedules of a PostgreSQL store: a due run is queued once, because its id names the due time.
import { formatRunOutcome } from '../run-row.ts';
import { createSchedules, toDueRun, type ScheduleRow } from '../schedules.ts';
import type { PostgresContext } from './context.ts';
import type { EnqueueRuns } from './runs.ts';

const columns = 'SELECT name, cron, run, next FROM fairlead.schedules';
const saveSql = `
INSERT INTO fairlead.schedules AS old (name, cron, run, next) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET cron = $2, run = $3, next = CASE old.cron WHEN $2 THEN old.next ELSE $4 END`;
const advanceSql = 'UPDATE fairlead.schedules SET next = $3 WHERE name = $1 AND next = $2';
const endRunSql = `
SELECT fairlead.end_run(run, $2, 'provider-error', 0, 0) FROM fairlead.runs AS run WHERE id = $1 AND status = 'queued'`;

/** Lists and sets the schedules of a store. */
export const createPostgresSchedules = ({ db }: PostgresContext): ReturnType<typeof createSchedules> =>
  createSchedules({
    list: () => db.all(`${columns} ORDER BY name`),
    save: ({ name, cron, run, next }) => db.all(saveSql, [name, cron, run, next]),
    remove: (name) => db.all('DELETE FROM fairlead.schedules WHERE name = $1', [name]),
  });

/** Queues the runs that are due. Every step may be repeated by another worker, or after a crash. */
export async function enqueueDuePostgresSchedules({ db }: PostgresContext, enqueue: EnqueueRuns): Promise<void> {
  for (const schedule of await db.all<ScheduleRow>(`${columns} WHERE next <= fairlead.now_ms()`)) {
    const { run, damage, next } = toDueRun(schedule, Date.now());
    await enqueue([run]);
    if (damage) await db.all(endRunSql, [run.id, formatRunOutcome(damage)]);
    await db.all(advanceSql, [schedule.name, schedule.next, next]);
  }
}
