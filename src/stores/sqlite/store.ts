// Fleet store in one SQLite file: for any number of processes on one machine, without setup.
import path from 'node:path';
import type { FleetStore } from '../../core/index.ts';
import { storeDefaults, type FleetStoreOptions } from '../defaults.ts';
import { createPartialTextChannel } from '../partial-text.ts';
import { openSqliteContext } from './context.ts';
import { openSqliteBus } from './partial-text-transport.ts';
import { requeueRunsOfHolder } from './claim.ts';
import { createSqliteKillSwitch, createSqliteWorkerRegistry } from './fleet-control.ts';
import { databaseGoneError } from './errors.ts';
import { createSqliteInbox } from './inbox.ts';
import { createSqliteLedger } from './ledger.ts';
import { createSqliteProcessLease } from './process-lease.ts';
import { pruneSqlite } from './prune.ts';
import { createSqliteQueue } from './queue.ts';
import { createSqliteSessions } from './sessions.ts';

/** Options of a SQLite store. */
export type SqliteOptions = FleetStoreOptions & {
  /** How often the store checks whether other processes have written, in milliseconds; 50 by default. */
  readonly pollMs?: number;
};

/** Opens the store in a file; creates the file if there is none. */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<FleetStore> {
  const { leaseMs, retryMs, maxWorkerLosses, pollMs } = { ...storeDefaults, pollMs: 50, ...options };
  const context = await openSqliteContext(file, pollMs);
  const lease = createSqliteProcessLease(context, leaseMs, (token) =>
    requeueRunsOfHolder(context, token, maxWorkerLosses),
  );
  const bus = openSqliteBus(context.file, pollMs);
  const partialText = createPartialTextChannel(bus.create);
  return {
    description: `sqlite ${path.basename(file)}`,
    sessions: createSqliteSessions(context, lease),
    queue: createSqliteQueue(context, lease, retryMs),
    inbox: createSqliteInbox(context),
    partialText,
    killSwitch: createSqliteKillSwitch(context),
    ledger: createSqliteLedger(context),
    workers: createSqliteWorkerRegistry(context),
    prune: (before) => pruneSqlite(context, before),
    async ping() {
      context.read(() => context.one('SELECT 1 FROM control'));
      if (!context.isSameFile()) throw databaseGoneError(context.file);
    },
    async close() {
      if (context.isClosed) return;
      await partialText.close();
      bus.close();
      await lease.close();
      await context.close();
    },
  };
}
