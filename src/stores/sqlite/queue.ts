// The queue of a SQLite store.
import { noSpending, type Queue, type QueueDepth, type RunFilter } from '../../core/index.ts';
import type { Base } from './base.ts';
import { readLimits } from './claim.ts';
import type { Presence } from './presence.ts';
import { addRun, endRun, findRun, putLetter, runOf, wakeRun, type RunRow } from './runs.ts';
import { readSchedules, setSchedule } from './schedules.ts';
import { tally } from './tally.ts';
import { work } from './work.ts';

const usualMost = 100;

/** The queue in a store. */
export function queueOf(base: Base, presence: Presence, retryMs: number): Queue {
  function cancelRun(id: string, detail: string): RunRow | undefined {
    const row = findRun(base, id);
    if (row?.status === 'running') putLetter(base, row.session, { type: 'cancel' });
    else if (row && row.status !== 'ended')
      endRun(base, row, { reason: 'cancelled', detail, text: '', spent: noSpending });
    return findRun(base, id);
  }

  return {
    enqueue: (runs) => base.write(() => runs.map((run) => addRun(base, run))),
    wake: (run) => base.write(() => wakeRun(base, run)),
    async cancel(run, detail) {
      const row = await base.write(() => cancelRun(run, detail));
      return row && runOf(row);
    },
    async run(id) {
      const row = base.read(() => findRun(base, id));
      return row && runOf(row);
    },
    list: async (filter = {}) => base.read(() => listRuns(base, filter).map(runOf)),
    depth: async () => base.read(() => depthOf(base)),
    work: (given) => work(base, presence, given, retryMs),
    limits: async () => base.read(() => readLimits(base)),
    limit: (limits) =>
      base.write(() => {
        base.run(`UPDATE control SET value = ? WHERE name = 'limits'`, JSON.stringify(limits));
        base.touch('queue');
      }),
    schedules: async () => base.read(() => readSchedules(base)),
    schedule: (schedule) => setSchedule(base, schedule),
    tally: async (from, to, stretchMs) => base.read(() => tally(base, Date.parse(from), Date.parse(to), stretchMs)),
  };
}

function listRuns(base: Base, filter: RunFilter): readonly RunRow[] {
  const before = filter.before === undefined ? undefined : findRun(base, filter.before)?.key;
  const wanted = (['status', 'tenant', 'parent', 'session'] as const).flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : [{ column, value }];
  });
  const where = ['key < ?', ...wanted.map(({ column }) => `${column} = ?`)].join(' AND ');
  return base.all<RunRow>(
    `SELECT * FROM runs WHERE ${where} ORDER BY key DESC LIMIT ?`,
    before ?? Number.MAX_SAFE_INTEGER,
    ...wanted.map(({ value }) => value),
    filter.most ?? usualMost,
  );
}

function depthOf(base: Base): QueueDepth {
  const count = (status: string): number =>
    base.one<{ count: number }>(`SELECT count(*) AS count FROM runs WHERE status = '${status}'`)?.count ?? 0;
  const sql = "SELECT min(queued) AS oldest FROM runs WHERE status = 'queued'";
  const oldest = base.one<{ oldest: number | null }>(sql)?.oldest ?? undefined;
  return {
    queued: count('queued'),
    running: count('running'),
    resting: count('resting'),
    ...(oldest === undefined ? {} : { oldest: new Date(oldest).toISOString() }),
  };
}
