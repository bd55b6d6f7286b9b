// The queue of a PostgreSQL store.
import { randomUUID } from 'node:crypto';
import { zeroUsage, type RunQueue, type QueueLimits, type RunOutcome } from '../../core/index.ts';
import type { RunRow } from '../run-row.ts';
import { tallies, type EndedRow } from '../tally.ts';
import type { Base } from './base.ts';
import type { Presence } from './presence.ts';
import { columns, depthOf, enqueuingIn, findRun, listRuns, ready, runIn } from './runs.ts';
import { readSchedules, setSchedule } from './schedules.ts';
import { work, type Desk } from './work.ts';

const cancelSql = `SELECT ${columns} FROM fairlead.cancel($1, $2, $3)`;
const begunSql = "SELECT id FROM fairlead.runs WHERE parent = $1 AND status <> 'ended'";
const endedSql = `
SELECT ended, reason, usd, tokens, CASE WHEN started IS NOT NULL THEN greatest(0, started - ${ready}) END AS waited, ended - started AS took FROM fairlead.runs
WHERE ended >= $1 AND ended < $2 ORDER BY ended`;

/** The queue in a store. */
export function queueOf(base: Base, presence: Presence, desk: Desk): RunQueue {
  const { db } = base;
  return {
    enqueue: enqueuingIn(base),
    async wake(run) {
      await db.all('SELECT fairlead.wake($1)', [run]);
      base.touch('queue');
    },
    async cancel(run, detail) {
      const outcome: RunOutcome = { reason: 'cancelled', detail, text: '', spent: zeroUsage };
      const end = async (id: string): Promise<RunRow | undefined> => {
        const row = await db.one<RunRow>(cancelSql, [id, randomUUID(), JSON.stringify(outcome)]);
        // One by one, from above: a child that ends meanwhile wants the row of its parent too.
        if (row) for (const child of await db.all<{ id: string }>(begunSql, [id])) await end(child.id);
        return row;
      };
      const row = await end(run);
      base.touch('queue');
      base.touch('letters');
      return row && runIn(row);
    },
    run: (id) => findRun(base, id),
    list: (filter = {}) => listRuns(base, filter),
    depth: () => depthOf(base),
    work: (given) => work(base, presence, desk, given),
    limits: () => readLimits(base),
    async setLimits(limits) {
      const sql = "UPDATE fairlead.control SET value = $1 WHERE name = 'limits'";
      await db.all(sql, [JSON.stringify(limits)]);
      base.touch('queue');
    },
    schedules: () => readSchedules(base),
    setSchedule: (schedule) => setSchedule(base, schedule),
    async stats(from, to, stretchMs) {
      const ends = [Date.parse(from), Date.parse(to)] as const;
      const sum = tallies({ from: ends[0], to: ends[1], stretchMs });
      return sum(await db.all<EndedRow>(endedSql, ends));
    },
  };
}

/** The limits that are set. */
export async function readLimits({ db }: Base): Promise<QueueLimits> {
  const row = await db.one<{ value: string }>("SELECT value FROM fairlead.control WHERE name = 'limits'");
  return row ? (JSON.parse(row.value) as QueueLimits) : {};
}
