// Who is at work, by their signs of life.
import type { WorkerRegistry, WorkerInfo } from '../../core/index.ts';
import type { SqliteContext } from './context.ts';

/** Who has given no sign for so long is not at work any more. */
const workerTimeoutMs = 60_000;

/** The roster of a store. */
export function createSqliteWorkerRegistry(base: SqliteContext): WorkerRegistry {
  return {
    heartbeat: (entry) =>
      base.write(
        () => {
          const sql =
            'INSERT INTO workers (worker, entry, seen) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET entry = ?2, seen = ?3';
          base.run(sql, entry.worker, JSON.stringify(entry), Date.now());
          base.run('DELETE FROM workers WHERE seen < ?', Date.now() - workerTimeoutMs);
        },
        { settle: false },
      ),
    deregister: (worker) => base.write(() => void base.run('DELETE FROM workers WHERE worker = ?', worker)),
    async list() {
      const sql = 'SELECT entry, seen FROM workers WHERE seen >= ? ORDER BY worker';
      return base
        .read(() => base.all<{ entry: string; seen: number }>(sql, Date.now() - workerTimeoutMs))
        .map(toWorkerInfo);
    },
  };
}

const toWorkerInfo = ({ entry, seen }: { readonly entry: string; readonly seen: number }): WorkerInfo => ({
  ...(JSON.parse(entry) as Omit<WorkerInfo, 'seen'>),
  seen: new Date(seen).toISOString(),
});
