// Small tables of a PostgreSQL store: kill switch, queue limits and worker registry.
import type { KillSwitch, QueueLimits, WorkerRegistry } from '../../core/index.ts';
import { createKillSwitch, killSwitchRowName } from '../kill-switch.ts';
import { parseQueueLimits } from '../run-row.ts';
import { createWorkerRegistry, workerTimeoutMs } from '../worker-registry.ts';
import type { PostgresContext } from './context.ts';

type ControlName = typeof killSwitchRowName | 'limits';

const readSql = 'SELECT value FROM fairlead.control WHERE name = $1';
const writeSql = `
INSERT INTO fairlead.control (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2`;

async function writeControl(context: PostgresContext, name: ControlName, value: string): Promise<void> {
  await context.db.all(writeSql, [name, value]);
  context.notify('queue');
}

/** The kill switch of a store. A row that cannot be read within a second counts as stopped. */
export const createPostgresKillSwitch = (context: PostgresContext): KillSwitch =>
  createKillSwitch({
    read: async () =>
      (await context.db.one<{ value: string }>(readSql, [killSwitchRowName], { retryForMs: 1000 }))?.value,
    write: (value) => writeControl(context, killSwitchRowName, value),
  });

/** The limits of the queue. */
export async function readPostgresQueueLimits({ db }: PostgresContext): Promise<QueueLimits> {
  return parseQueueLimits((await db.one<{ value: string }>(readSql, ['limits']))?.value);
}

/** Sets the limits of the queue. */
export const writePostgresQueueLimits = (context: PostgresContext, limits: QueueLimits): Promise<void> =>
  writeControl(context, 'limits', JSON.stringify(limits));

const saveWorkerSql = `
WITH timed_out AS (DELETE FROM fairlead.workers WHERE seen < fairlead.now_ms() - ${workerTimeoutMs} AND worker <> $1)
INSERT INTO fairlead.workers (worker, entry, seen) SELECT $1, $2, fairlead.now_ms() FROM set_config('synchronous_commit', 'off', true)
ON CONFLICT (worker) DO UPDATE SET entry = excluded.entry, seen = excluded.seen`;

const listWorkersSql = `
SELECT entry, seen FROM fairlead.workers WHERE seen >= fairlead.now_ms() - ${workerTimeoutMs} ORDER BY worker`;

/** The registered workers of a store. */
export const createPostgresWorkerRegistry = ({ db }: PostgresContext): WorkerRegistry =>
  createWorkerRegistry({
    save: (worker, entry) => db.all(saveWorkerSql, [worker, entry]),
    remove: (worker) => db.all('DELETE FROM fairlead.workers WHERE worker = $1', [worker]),
    list: () => db.all(listWorkersSql),
  });
