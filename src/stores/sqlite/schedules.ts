// Cron schedules of a SQLite store: due runs are queued in one transaction, so that each is queued once.
import { createSchedules, toDueRun, type ScheduleRow } from '../schedules.ts';
import type { SqliteContext } from './context.ts';
import { addRun, endRun, findRun } from './runs.ts';

const saveSql = `INSERT INTO schedules (name, cron, run, next) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT DO UPDATE SET cron = ?2, run = ?3, next = CASE cron WHEN ?2 THEN next ELSE ?4 END`;

/** Lists and sets the schedules of a store. */
export const createSqliteSchedules = (context: SqliteContext): ReturnType<typeof createSchedules> =>
  createSchedules({
    list: async () => context.read(() => context.all<ScheduleRow>('SELECT * FROM schedules ORDER BY name')),
    save: ({ name, cron, run, next }) => context.write(() => context.run(saveSql, name, cron, run, next)),
    remove: (name) => context.write(() => context.run('DELETE FROM schedules WHERE name = ?', name)),
  });

/** Queues the runs that are due. */
export async function enqueueDueSqliteSchedules(context: SqliteContext): Promise<void> {
  const dueSql = 'SELECT * FROM schedules WHERE next <= ?';
  // Reads first: an idle worker must not ask for the write lock.
  if (context.read(() => context.one(dueSql, Date.now())) === undefined) return;
  await context.write(() => {
    const now = Date.now();
    for (const schedule of context.all<ScheduleRow>(dueSql, now)) {
      const { run, damage, next } = toDueRun(schedule, now);
      const { status } = addRun(context, run);
      const row = damage && status === 'queued' ? findRun(context, run.id) : undefined;
      if (damage && row) endRun(context, row, damage);
      context.run('UPDATE schedules SET next = ? WHERE name = ?', next, schedule.name);
    }
  });
}
