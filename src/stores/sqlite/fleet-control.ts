// Small tables of a SQLite store: kill switch, queue limits and worker registry.
import type { KillSwitch, QueueLimits, WorkerRegistry } from '../../core/index.ts';
import { createKillSwitch, killSwitchRowName, parseKillSwitchState } from '../kill-switch.ts';
import { parseQueueLimits } from '../run-row.ts';
import { createWorkerRegistry, workerTimeoutMs, type WorkerRow } from '../worker-registry.ts';
import type { SqliteContext } from './context.ts';
import { databaseGoneError } from './errors.ts';

type ControlName = typeof killSwitchRowName | 'limits';

const readControl = (context: SqliteContext, name: ControlName): string | undefined =>
  context.read(() => context.one<{ value: string }>('SELECT value FROM control WHERE name = ?', name))?.value;

const writeControl = (context: SqliteContext, name: ControlName, value: string): Promise<void> =>
  context.write(() => {
    const sql = 'INSERT INTO control (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2';
    context.run(sql, name, value);
    context.notify('queue');
  });

/** Reads the kill switch. A database file that was replaced may hold another one, so its row is not used. */
function readKillSwitchRow(context: SqliteContext): string | undefined {
  if (!context.isSameFile()) throw databaseGoneError(context.file);
  return readControl(context, killSwitchRowName);
}

/** The kill switch of a store. */
export const createSqliteKillSwitch = (context: SqliteContext): KillSwitch =>
  createKillSwitch({
    read: async () => readKillSwitchRow(context),
    write: (value) => writeControl(context, killSwitchRowName, value),
  });

/** Whether the kill switch is on, or cannot be read. Synchronous, so that a claim reads it in its own transaction. */
export function isStopped(context: SqliteContext): boolean {
  try {
    return parseKillSwitchState(readKillSwitchRow(context)).stopped;
  } catch {
    return true;
  }
}

/** The limits of the queue. */
export const readSqliteQueueLimits = (context: SqliteContext): QueueLimits =>
  parseQueueLimits(readControl(context, 'limits'));

/** Sets the limits of the queue. */
export const writeSqliteQueueLimits = (context: SqliteContext, limits: QueueLimits): Promise<void> =>
  writeControl(context, 'limits', JSON.stringify(limits));

/** The registered workers of a store. */
export const createSqliteWorkerRegistry = (context: SqliteContext): WorkerRegistry =>
  createWorkerRegistry({
    save: (worker, entry) =>
      context.write(
        () => {
          const sql =
            'INSERT INTO workers (worker, entry, seen) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET entry = ?2, seen = ?3';
          context.run(sql, worker, entry, Date.now());
          context.run('DELETE FROM workers WHERE seen < ?', Date.now() - workerTimeoutMs);
        },
        { durable: false },
      ),
    remove: (worker) => context.write(() => context.run('DELETE FROM workers WHERE worker = ?', worker)),
    async list() {
      const sql = 'SELECT entry, seen FROM workers WHERE seen >= ? ORDER BY worker';
      return context.read(() => context.all<WorkerRow>(sql, Date.now() - workerTimeoutMs));
    },
  });
