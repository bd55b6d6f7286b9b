// A fleet's store in PostgreSQL: for any number of processes on any number of machines. The queue is DBOS's.
import type { FleetStore } from '../../core/index.ts';
import { liveOver } from '../live.ts';
import { openBase } from './base.ts';
import { busOver } from './bus.ts';
import type { Engine } from './engine.ts';
import { inboxOf } from './inbox.ts';
import { killSwitchOf } from './kill-switch.ts';
import { ledgerOf } from './ledger.ts';
import { migrate } from './open.ts';
import { newPresence } from './presence.ts';
import { prune } from './prune.ts';
import { queueOf } from './queue.ts';
import { rosterOf } from './roster.ts';
import { sessionsOf } from './sessions.ts';

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
  const base = await openBase(url);
  try {
    await migrate(base);
  } catch (error) {
    await base.close();
    throw error;
  }
  const presence = newPresence(base, leaseMs);
  const live = liveOver(busOver(base));
  let engine: Promise<Engine> | undefined;
  const desk = {
    retryMs,
    engine() {
      engine ??= import('./engine.ts').then(({ engineFor }) => engineFor(url));
      // Who comes after a failure tries again.
      engine.catch(() => (engine = undefined));
      return engine;
    },
  };
  return {
    description: base.db.about,
    sessions: sessionsOf(base, presence),
    queue: queueOf(base, presence, desk),
    inbox: inboxOf(base),
    partialText: live,
    killSwitch: killSwitchOf(base),
    ledger: ledgerOf(base),
    workers: rosterOf(base),
    prune: (before) => prune(base, before),
    async ping() {
      await base.db.all('SELECT 1 FROM fairlead.control', [], { patienceMs: 0 });
    },
    async close() {
      if (base.db.isClosed) return;
      await live.close();
      await Promise.all([presence.close(), engine?.then((each) => each.release()).catch(() => {})]);
      await base.close();
    },
  };
}
