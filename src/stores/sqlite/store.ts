// A fleet's store in one SQLite file: for any number of processes on one machine, with nothing to set up.
import path from 'node:path';
import type { FleetStore } from '../../core/index.ts';
import { createPartialTextChannel } from '../partial-text.ts';
import { openSqliteContext, type SqliteContext } from './context.ts';
import { openSqliteBus } from './bus.ts';
import { requeueRunsOfHolder } from './claim.ts';
import { createSqliteInbox } from './inbox.ts';
import { createSqliteKillSwitch } from './kill-switch.ts';
import { createSqliteLedger } from './ledger.ts';
import { createSqliteProcessLease } from './process-lease.ts';
import { prune } from './prune.ts';
import { createSqliteQueue } from './queue.ts';
import { createSqliteWorkerRegistry } from './worker-registry.ts';
import { createSqliteSessions } from './sessions.ts';
import { databaseGoneError } from './errors.ts';

/** How a store is to behave; what is absent is as usual. */
export type SqliteOptions = {
  /** How long a process may give no sign of life before others take what it holds, in milliseconds. One whose death can be seen is not waited for. */
  readonly leaseMs?: number;
  /** How long a run waits after working on it has failed once; twice as long each time after that. */
  readonly retryMs?: number;
  /** How often it is looked whether other processes have written. */
  readonly pollMs?: number;
};

/** Opens a store in a file, or makes one. */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<FleetStore> {
  const { leaseMs = 10_000, retryMs = 1000, pollMs = 50 } = options;
  const base: SqliteContext = await openSqliteContext(file, pollMs);
  const presence = createSqliteProcessLease(base, leaseMs, (token) => requeueRunsOfHolder(base, token));
  const bus = openSqliteBus(base.file, pollMs);
  const live = createPartialTextChannel(bus.create);
  return {
    description: `sqlite ${path.basename(file)}`,
    sessions: createSqliteSessions(base, presence),
    queue: createSqliteQueue(base, presence, retryMs),
    inbox: createSqliteInbox(base),
    partialText: live,
    killSwitch: createSqliteKillSwitch(base),
    ledger: createSqliteLedger(base),
    workers: createSqliteWorkerRegistry(base),
    prune: (before) => prune(base, before),
    async ping() {
      base.read(() => base.one('SELECT 1 FROM control'));
      if (!base.isSameFile()) throw databaseGoneError(base.file);
    },
    async close() {
      if (base.isClosed) return;
      await live.close();
      bus.close();
      await presence.close();
      await base.close();
    },
  };
}
