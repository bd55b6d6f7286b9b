// Who is at work, by their signs of life.
import type { WorkerRegistry, WorkerInfo } from '../../core/index.ts';
import type { PostgresContext } from './context.ts';

/** Who has given no sign for so long is not at work any more. */
const workerTimeoutMs = 60_000;

const heartbeatSql = `
WITH gone AS (DELETE FROM fairlead.workers WHERE seen < fairlead.now_ms() - ${workerTimeoutMs} AND worker <> $1)
INSERT INTO fairlead.workers (worker, entry, seen) SELECT $1, $2, fairlead.now_ms() FROM set_config('synchronous_commit', 'off', true)
ON CONFLICT (worker) DO UPDATE SET entry = excluded.entry, seen = excluded.seen`;

/** The roster of a store. */
export function createPostgresWorkerRegistry({ db }: PostgresContext): WorkerRegistry {
  return {
    async heartbeat(entry) {
      await db.all(heartbeatSql, [entry.worker, JSON.stringify(entry)]);
    },
    async deregister(worker) {
      await db.all('DELETE FROM fairlead.workers WHERE worker = $1', [worker]);
    },
    async list() {
      const sql = `SELECT entry, seen FROM fairlead.workers WHERE seen >= fairlead.now_ms() - ${workerTimeoutMs} ORDER BY worker`;
      return (await db.all<{ entry: string; seen: number }>(sql)).map(toWorkerInfo);
    },
  };
}

const toWorkerInfo = ({ entry, seen }: { readonly entry: string; readonly seen: number }): WorkerInfo => ({
  ...(JSON.parse(entry) as Omit<WorkerInfo, 'seen'>),
  seen: new Date(seen).toISOString(),
});
