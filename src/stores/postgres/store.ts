// Fleet store in PostgreSQL: for any number of processes on any number of machines. DBOS hands out the queued runs.
import type { FleetStore } from '../../core/index.ts';
import { storeDefaults, type FleetStoreOptions } from '../defaults.ts';
import { createPartialTextChannel } from '../partial-text.ts';
import { openPostgresContext } from './context.ts';
import { createPostgresBus } from './partial-text-transport.ts';
import { createPostgresKillSwitch, createPostgresWorkerRegistry } from './fleet-control.ts';
import type { DbosEngine } from './dbos-engine.ts';
import { createPostgresInbox } from './inbox.ts';
import { createPostgresLedger } from './ledger.ts';
import { migratePostgres } from './migrate.ts';
import { createPostgresProcessLease } from './process-lease.ts';
import { prunePostgres } from './prune.ts';
import { createPostgresQueue } from './queue.ts';
import { createPostgresSessions } from './sessions.ts';

/** Opens the store in a database; creates its tables if there are none. */
export async function openPostgres(url: string, options: FleetStoreOptions = {}): Promise<FleetStore> {
  const { leaseMs, retryMs, maxWorkerLosses } = { ...storeDefaults, ...options };
  const context = await openPostgresContext(url);
  try {
    await migratePostgres(context);
  } catch (error) {
    await context.close();
    throw error;
  }
  const lease = createPostgresProcessLease(context, leaseMs, maxWorkerLosses);
  const partialText = createPartialTextChannel(createPostgresBus(context));
  let engine: Promise<DbosEngine> | undefined;
  const resources = {
    retryMs,
    engine() {
      engine ??= import('./dbos-engine.ts').then(({ acquireEngine }) => acquireEngine(url));
      // After a failure the next caller tries again.
      engine.catch(() => (engine = undefined));
      return engine;
    },
  };
  return {
    description: context.db.description,
    sessions: createPostgresSessions(context, lease),
    queue: createPostgresQueue(context, lease, resources),
    inbox: createPostgresInbox(context),
    partialText,
    killSwitch: createPostgresKillSwitch(context),
    ledger: createPostgresLedger(context),
    workers: createPostgresWorkerRegistry(context),
    prune: (before) => prunePostgres(context, before),
    async ping() {
      await context.db.all('SELECT 1 FROM fairlead.control', [], { retryForMs: 0 });
    },
    async close() {
      if (context.db.isClosed) return;
      await partialText.close();
      await Promise.all([lease.close(), engine?.then((each) => each.release()).catch(() => {})]);
      await context.close();
    },
  };
}
