// A fleet's store in PostgreSQL: for any number of processes on any number of machines. The queue is DBOS's.
import type { FleetStore } from '../../core/index.ts';
import { createPartialTextChannel } from '../partial-text.ts';
import { openPostgresContext } from './context.ts';
import { createPostgresBus } from './bus.ts';
import type { DbosEngine } from './engine.ts';
import { createPostgresInbox } from './inbox.ts';
import { createPostgresKillSwitch } from './kill-switch.ts';
import { createPostgresLedger } from './ledger.ts';
import { migratePostgres } from './migrate.ts';
import { createPostgresProcessLease } from './process-lease.ts';
import { prune } from './prune.ts';
import { createPostgresQueue } from './queue.ts';
import { createPostgresWorkerRegistry } from './worker-registry.ts';
import { createPostgresSessions } from './sessions.ts';

/** How a store is to behave; what is absent is as usual. */
export type PostgresOptions = {
  /** How long a process may give no sign of life before others take what it holds, in milliseconds. */
  readonly leaseMs?: number;
  /** How long a run waits after working on it has failed once; twice as long each time after that. */
  readonly retryMs?: number;
};

/** Opens a store in a database, or makes one there. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<FleetStore> {
  const { leaseMs = 10_000, retryMs = 1000 } = options;
  const base = await openPostgresContext(url);
  try {
    await migratePostgres(base);
  } catch (error) {
    await base.close();
    throw error;
  }
  const presence = createPostgresProcessLease(base, leaseMs);
  const live = createPartialTextChannel(createPostgresBus(base));
  let engine: Promise<DbosEngine> | undefined;
  const desk = {
    retryMs,
    engine() {
      engine ??= import('./engine.ts').then(({ acquireEngine }) => acquireEngine(url));
      // Who comes after a failure tries again.
      engine.catch(() => (engine = undefined));
      return engine;
    },
  };
  return {
    description: base.db.description,
    sessions: createPostgresSessions(base, presence),
    queue: createPostgresQueue(base, presence, desk),
    inbox: createPostgresInbox(base),
    partialText: live,
    killSwitch: createPostgresKillSwitch(base),
    ledger: createPostgresLedger(base),
    workers: createPostgresWorkerRegistry(base),
    prune: (before) => prune(base, before),
    async ping() {
      await base.db.all('SELECT 1 FROM fairlead.control', [], { retryForMs: 0 });
    },
    async close() {
      if (base.db.isClosed) return;
      await live.close();
      await Promise.all([presence.close(), engine?.then((each) => each.release()).catch(() => {})]);
      await base.close();
    },
  };
}
