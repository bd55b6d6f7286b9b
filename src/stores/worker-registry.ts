// Worker registry of a fleet. The heartbeat of the worker registry, which each worker sends every 3 seconds, keeps a worker listed for 60 seconds.
import type { WorkerInfo, WorkerRegistry } from '../core/index.ts';

/** A worker without a heartbeat for so many milliseconds is not listed. */
export const workerTimeoutMs = 60_000;

/** A worker in the database: `entry` is JSON, `seen` the time of its last heartbeat in milliseconds. */
export type WorkerRow = { readonly entry: string; readonly seen: number };

/** The statements of a store on its table of workers. */
export type WorkerTable = {
  /** Inserts or updates a worker with the time of now, and may delete workers that have timed out. */
  save(worker: string, entry: string): Promise<unknown>;
  remove(worker: string): Promise<unknown>;
  /** The workers that have not timed out, by id. */
  list(): Promise<readonly WorkerRow[]>;
};

/** Creates the registry on a table. */
export const createWorkerRegistry = (table: WorkerTable): WorkerRegistry => ({
  async heartbeat({ startedAt, info, ...worker }) {
    await table.save(worker.worker, JSON.stringify({ ...worker, begun: startedAt, about: info }));
  },
  async deregister(worker) {
    await table.remove(worker);
  },
  async list() {
    return (await table.list()).map(toWorkerInfo);
  },
});

/** The JSON of a worker in a row: `startedAt` and `info` are stored as `begun` and `about`. */
type StoredWorker = Omit<WorkerInfo, 'startedAt' | 'lastSeenAt' | 'info'> & {
  readonly begun: string;
  readonly about: WorkerInfo['info'];
};

function toWorkerInfo({ entry, seen }: WorkerRow): WorkerInfo {
  const { begun: startedAt, about: info, ...worker } = JSON.parse(entry) as StoredWorker;
  return { ...worker, startedAt, lastSeenAt: new Date(seen).toISOString(), info };
}
